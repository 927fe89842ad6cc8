"""Object-like macros to constants; every other macro to a list, with the reason."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from .errors import UnsupportedConstruct
from .expr import constant
from .model import Header
from .preprocess import Macro
from .standard import TYPES

__all__ = ["read_macros"]

_NAME = re.compile(r"[A-Za-z_]\w*")


def read_macros(macros: Mapping[str, Macro], header: Header, enumerators: Mapping[str, int]) -> None:
    """Fill ``header.constants`` and ``header.skipped``.

    A macro counts as a constant only if C would see an integer, a floating-point or a string literal, or an
    expression of integers; a value that would depend on the platform is skipped rather than guessed.
    """
    parser = CParser()
    types = {*TYPES, *header.typedefs, *header.records, *header.enums, *header.callbacks, *header.handles}
    for name, macro in macros.items():
        why = _no_constant(macro)
        if why is None:
            try:
                header.constants[name] = _value(macro, parser, types, enumerators)
                continue
            except UnsupportedConstruct as error:
                why = f"{error.construct}: {error.why}" if error.construct else error.why
            except RecursionError:
                why = "it is nested too deeply"
        header.skipped[name] = why


def _no_constant(macro: Macro) -> str | None:
    """Why a look at the macro is enough to pass it over."""
    if macro.body is None:
        return macro.why
    if not macro.body:
        return "it is empty"
    return "C reserves names that begin with an underscore" if macro.name.startswith("_") else None


def _value(macro: Macro, parser: CParser, types: set[str], enumerators: Mapping[str, int]) -> int | float | str:
    assert macro.body is not None
    if macro.body.isdecimal() and macro.body[0] != "0" and len(macro.body) < 10:  # most are; a parser is not needed
        return int(macro.body)
    used = sorted(types.intersection(_NAME.findall(macro.body)))  # so that (size_t)-1 is a cast and no difference
    try:
        tree = parser.parse("".join(f"typedef int {name};" for name in used) + f"int x = {macro.body};")
    except (ParseError, AssertionError):
        tree = c_ast.FileAST([])
    # A body such as `1; int y` or `1, y` would be read as more than the one declaration.
    if len(tree.ext) != len(used) + 1 or not isinstance(tree.ext[-1], c_ast.Decl) or tree.ext[-1].init is None:
        raise UnsupportedConstruct(macro.coord, "", "it is not an expression")
    return constant(tree.ext[-1].init, enumerators, macro.coord)
