"""Object-like macros to constants; every other macro to a list, with the reason."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from .errors import UnsupportedConstruct
from .expr import evaluate
from .model import Header
from .preprocess import Macro

__all__ = ["read_macros"]

_FLOAT = re.compile(r"[-+]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][-+]?\d+)?[fF]?")
_STRING = re.compile(r'L?("(?:[^"\\]|\\.)*"\s*)+')


def read_macros(macros: Mapping[str, Macro], header: Header, enumerators: Mapping[str, int]) -> None:
    """Fill ``header.constants`` and ``header.skipped``.

    A macro counts as a constant only if C would see an integer, a floating-point or a string literal, or an
    expression of those; a value that would depend on the platform is skipped rather than guessed.
    """
    names = dict(enumerators)
    waiting = dict(macros)
    while waiting:  # a macro may use one that is defined after it
        progress = False
        for name, macro in list(waiting.items()):
            value, reason = _value(macro, names, waiting)
            if value is None and reason is None:
                continue
            del waiting[name]
            progress = True
            if value is not None:
                header.constants[name] = value
                if isinstance(value, int):
                    names[name] = value
            else:
                header.skipped[name] = reason or ""
        if not progress:
            for name in waiting:
                header.skipped[name] = "it refers to itself"
            break
    order = list(macros)
    header.constants = dict(sorted(header.constants.items(), key=lambda item: order.index(item[0])))
    header.skipped = dict(sorted(header.skipped.items(), key=lambda item: order.index(item[0])))


def _value(
    macro: Macro, names: Mapping[str, int], waiting: Mapping[str, Macro]
) -> tuple[int | float | str | None, str | None]:
    """The constant, or the reason why there is none, or neither when another macro must come first."""
    if macro.function:
        return None, "it takes arguments"
    body = macro.body
    if not body:
        return None, "it is empty"
    if _STRING.fullmatch(body):
        return _string(body), None
    if _FLOAT.fullmatch(body):
        return float(body.rstrip("fF")), None
    try:
        tree = CParser().parse(f"int x = {body};", "macro")
    except (ParseError, AssertionError):
        return None, "it is not an expression"
    if len(tree.ext) != 1 or not isinstance(tree.ext[0], c_ast.Decl):
        return None, "it is not an expression"
    used = _names(tree.ext[0].init)
    if any(name in waiting and name != macro.name and not waiting[name].function for name in used):
        return None, None
    try:
        return evaluate(tree.ext[0].init, names, macro.coord), None
    except UnsupportedConstruct as error:
        return None, str(error).split(": ", 1)[1]


def _names(node: c_ast.Node) -> set[str]:
    found = {node.name} if isinstance(node, c_ast.ID) else set()
    for _, child in node.children():
        found |= _names(child)
    return found


def _string(body: str) -> str:
    # C's escapes in the literals that headers define are Python's too; adjacent literals join in both.
    return str(ast.literal_eval("(" + body.replace('L"', '"') + ")"))
