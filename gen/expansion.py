"""Macro expansion as the C standard has it, over the macros that pcpp has defined.

Every token carries the names that it must not be expanded as again: those whose expansion it came from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from .errors import Coord, GenError, UnsupportedConstruct
from .lexer import PPToken, lex

__all__ = ["Expander"]

#: The variable argument of a call that has none, not even an empty one.
_LEFT_OUT: list[PPToken] = []


class _Part(NamedTuple):
    """A piece of a macro's body."""

    token: PPToken
    argument: int = -1  # which one it is replaced by
    string: bool = False  # #argument
    pasted: bool = False  # ## stands before it
    raw: bool = False  # ## stands before or behind it: an argument goes in as it was written


class Expander:
    """Expands token lists.

    Args:
        macros: pcpp's, by name.
        check: called with each token that is about to be expanded.
    """

    def __init__(self, macros: Mapping[str, Any], check: Callable[[PPToken], None]) -> None:
        self.macros = macros
        self.check = check

    def expand(self, tokens: list[PPToken]) -> list[PPToken]:
        """The tokens with every macro expanded, each on the line where the outermost call stands.

        Raises:
            GenError: a call does not fit its macro.
        """
        macros = self.macros
        if not any(token.value in macros for token in tokens):
            return tokens
        out: list[PPToken] = []
        waiting = tokens[::-1]
        while waiting:
            token = waiting.pop()
            macro = macros.get(token.value)
            if macro is None or token.value in token.hidden:
                out.append(token)
                continue
            self.check(token)
            if macro.arglist is None:
                if macro.value:
                    waiting += self._body(macro, [], token, token.hidden | {token.value})[::-1]
                continue
            call = _call(waiting, macro, token)
            if call is None:  # a name without parentheses is no call
                out.append(token)
                continue
            arguments, closing = call
            waiting += self._body(macro, arguments, token, (token.hidden & closing.hidden) | {token.value})[::-1]
        return out

    def body(self, name: str) -> list[PPToken]:
        """What a macro without arguments stands for."""
        macro = self.macros[name]
        at = PPToken("CPP_ID", name, macro.lineno, macro.source)
        return self.expand(self._body(macro, [], at, frozenset({name})))

    def _body(self, macro: Any, arguments: list[list[PPToken]], at: PPToken, hidden: frozenset[str]) -> list[PPToken]:
        """The macro's body with the arguments in it."""
        macros = self.macros
        line, source = at.lineno, at.source
        expanded: dict[int, list[PPToken]] = {}
        out: list[PPToken] = []
        for part in _parts(macro):
            token = part.token
            if part.argument < 0:
                tokens = [PPToken(token.type, token.value, line, source)]
            elif part.string:
                tokens = [PPToken("CPP_STRING", _string(arguments[part.argument]), line, source)]
            elif part.raw:
                tokens = arguments[part.argument]
            else:
                if part.argument not in expanded:
                    expanded[part.argument] = self.expand(arguments[part.argument])
                tokens = expanded[part.argument]
            if part.pasted:
                tokens = _paste(out, tokens, macro, part)
            for found in tokens:
                if found.value in macros or found.value == ")":  # a call ends with it, and hides what both hide
                    twin = PPToken(found.type, found.value, line, source, found.spaced)
                    twin.hidden = found.hidden | hidden
                    out.append(twin)
                else:
                    found.lineno, found.source = line, source
                    out.append(found)
        return out


def _call(waiting: list[PPToken], macro: Any, token: PPToken) -> tuple[list[list[PPToken]], PPToken] | None:
    """Take a call's arguments off the tokens that follow; None where no parenthesis does."""
    at = len(waiting) - 1
    while at >= 0 and waiting[at].type == "CPP_WS":
        at -= 1
    if at < 0 or waiting[at].value != "(":
        return None
    coord = Coord(token.source, token.lineno)
    names = macro.arglist
    arguments: list[list[PPToken]] = [[]]
    depth = 1
    while depth:
        at -= 1
        if at < 0:
            raise GenError(f"{coord}: the call of macro {token.value} is never closed")
        value = waiting[at].value
        if value == "(":
            depth += 1
        elif value == ")":
            depth -= 1
        elif value == "," and depth == 1 and not (macro.variadic and len(arguments) == len(names)):
            arguments.append([])
            continue
        if depth:
            arguments[-1].append(waiting[at])
    closing = waiting[at]
    del waiting[at:]
    arguments = [_stripped(argument) for argument in arguments]
    if macro.variadic and (len(arguments) == len(names) - 1 or (len(names) == 1 and arguments == [[]])):
        arguments[len(names) - 1 :] = [_LEFT_OUT]
    if len(arguments) != len(names) and (names or arguments != [[]]):
        raise GenError(f"{coord}: Macro {token.value} requires {len(names)} arguments but was passed {len(arguments)}")
    return arguments, closing


def _parts(macro: Any) -> list[_Part]:
    """The body in pieces, made once for each macro."""
    found: list[_Part] | None = getattr(macro, "parts", None)
    if found is None:
        found = macro.parts = _split(macro)
    return found


def _split(macro: Any) -> list[_Part]:
    names = macro.arglist or []
    parts: list[_Part] = []
    pasted = string = False
    for token in macro.value:
        if token.value == "__VA_OPT__":
            coord = Coord(macro.source, macro.lineno)
            raise UnsupportedConstruct(coord, token.value, "compilers differ on whether they have it")
        if token.value == "##":
            while parts and parts[-1].token.type == "CPP_WS":
                parts.pop()
            if parts:
                parts[-1] = parts[-1]._replace(raw=True)
                pasted = True
        elif token.type == "CPP_WS" and (pasted or string):
            continue
        elif token.value == "#" and macro.arglist is not None and not string:
            string = True
        else:
            argument = names.index(token.value) if token.value in names else -1
            parts.append(_Part(token, argument, string, pasted, pasted))
            pasted = string = False
    return parts


def _paste(out: list[PPToken], tokens: list[PPToken], macro: Any, part: _Part) -> list[PPToken]:
    """Join the last token so far with the first of these."""
    variadic = macro.variadic and part.argument == len(macro.arglist) - 1
    if variadic and out and out[-1].value == ",":  # GNU's: the comma goes where the argument was left out
        if tokens is _LEFT_OUT:
            out.pop()
        elif not tokens:
            coord = Coord(out[-1].source, out[-1].lineno)
            raise UnsupportedConstruct(coord, ", ## before nothing", "compilers differ on whether the comma stays")
        return tokens
    if not tokens or not out:
        return tokens
    left = out.pop()
    text = left.value + tokens[0].value
    joined = lex(text, left.source)
    if len(joined) != 1:
        raise GenError(f"{Coord(left.source, left.lineno)}: {left.value} ## {tokens[0].value} makes no token")
    joined[0].lineno = left.lineno
    return [joined[0], *tokens[1:]]


def _string(tokens: list[PPToken]) -> str:
    """An argument as a string literal."""
    text = ""
    for token in tokens:
        if text and (token.spaced or token.type == "CPP_WS") and not text.endswith(" "):
            text += " "
        if token.type == "CPP_WS":
            continue
        if token.type in ("CPP_STRING", "CPP_CHAR"):
            text += token.value.replace("\\", "\\\\").replace('"', '\\"')
        else:
            text += token.value
    return f'"{text.rstrip()}"'


def _stripped(tokens: list[PPToken]) -> list[PPToken]:
    start, end = 0, len(tokens)
    while start < end and tokens[start].type == "CPP_WS":
        start += 1
    while end > start and tokens[end - 1].type == "CPP_WS":
        end -= 1
    return tokens[start:end]
