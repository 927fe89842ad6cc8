"""C source text to preprocessing tokens, as the standard's translation phases 2 and 3 make them.

pcpp takes a lexer from outside. Its own splits what C does not (``0x10ULL``, ``1'000``, ``u8"x"``, ``0x1p3``), ends a
line at characters that end none in C, and costs more than the rest of the generator.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from .errors import Coord, GenError, UnsupportedConstruct

__all__ = ["PUNCTUATORS", "Lexer", "PPToken", "Token", "directive", "lex", "lines"]

_TOKENS = re.compile(
    r"[ \t\f\v\n]+"
    r'|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"'
    r"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'"
    r"|[A-Za-z_][A-Za-z0-9_]*"
    r"|/\*[^*]*\*+(?:[^/*][^*]*\*+)*/|//[^\n]*|/\*"
    r"|\.?[0-9](?:[eEpP][+-]|'?[A-Za-z0-9_]|\.)*"
    r"|\\[ \t]*\n"
    r"|\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||\#\#|[-+*/%&^|]="
    r"|(?s:.)"
)

_INTEGER = r"(?:0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)[uUlLzZ]*"  # compiled where a number is no plain one

#: pcpp's names for what its expression evaluator reads, and for the two operators of macro bodies.
_NAMED = {
    "#": "CPP_POUND", "##": "CPP_DPOUND", "+": "CPP_PLUS", "-": "CPP_MINUS", "*": "CPP_STAR", "/": "CPP_FSLASH",
    "%": "CPP_PERCENT", "|": "CPP_BAR", "&": "CPP_AMPERSAND", "~": "CPP_TILDE", "^": "CPP_HAT", "<": "CPP_LESS",
    ">": "CPP_GREATER", "=": "CPP_EQUAL", "!": "CPP_EXCLAMATION", "?": "CPP_QUESTION", "(": "CPP_LPAREN",
    ")": "CPP_RPAREN", "[": "CPP_LBRACKET", "]": "CPP_RBRACKET", "{": "CPP_LCURLY", "}": "CPP_RCURLY", ".": "CPP_DOT",
    ",": "CPP_COMMA", ";": "CPP_SEMICOLON", ":": "CPP_COLON", "\\": "CPP_BSLASH", "<<": "CPP_LSHIFT",
    ">>": "CPP_RSHIFT", "<=": "CPP_LESSEQUAL", ">=": "CPP_GREATEREQUAL", "||": "CPP_LOGICALOR",
    "&&": "CPP_LOGICALAND", "==": "CPP_EQUALITY", "!=": "CPP_INEQUALITY",
}  # fmt: skip

#: What C has besides names, literals and blanks. Any other character is no C.
PUNCTUATORS = {*_NAMED, "...", "->", "++", "--", "<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|="} - {"\\"}


_BLANK = {"CPP_WS", "CPP_COMMENT1", "CPP_COMMENT2", "CPP_LINECONT"}

_NONE: frozenset[str] = frozenset()

#: About how many tokens of text pcpp gets at once: it deletes the ones that it does not want one by one.
_GROUP = 256


class Token(NamedTuple):
    """A token of C as the stages after the preprocessor have it."""

    text: str
    coord: Coord


class PPToken:
    """A token with the attributes that pcpp reads.

    ``hidden`` are the macros that it came from; ``spaced`` is true where blanks stood before it and left no token.
    """

    __slots__ = ("hidden", "lineno", "source", "spaced", "type", "value")

    def __init__(self, kind: str, value: str, lineno: int, source: str, spaced: bool = False) -> None:
        self.type = kind
        self.value = value
        self.lineno = lineno
        self.source = source
        self.spaced = spaced
        self.hidden = _NONE

    def __copy__(self) -> PPToken:
        twin = PPToken(self.type, self.value, self.lineno, self.source, self.spaced)
        twin.hidden = self.hidden
        return twin


class Lexer:
    """The lexer that pcpp probes at its start, and uses for text that comes from no file."""

    def __init__(self) -> None:
        self.lineno = 1
        self._tokens: Iterator[PPToken] = iter(())

    def input(self, text: str) -> None:
        self._tokens = iter(lex(text, ""))

    def token(self) -> PPToken | None:
        token = next(self._tokens, None)
        if token is not None and token.type == "CPP_LINECONT":
            token.value = token.value[1:-1]
        return token

    def clone(self) -> Lexer:
        return Lexer()


def lex(text: str, file: str) -> list[PPToken]:
    """The tokens of one line, blanks and comments among them."""
    return [PPToken(_kind(value), value, 1, file) for value in _TOKENS.findall(text)]


def directive(group: list[PPToken]) -> tuple[str, list[PPToken]]:
    """The name of a directive and the words after it; an empty name for text."""
    words = [token for token in group if token.type != "CPP_WS"]
    if not words or words[0].value != "#":
        return "", []
    return (words[1].value, words[2:]) if len(words) > 1 else ("#", [])


def lines(text: str, file: str) -> list[list[PPToken]]:
    """The tokens in groups, each a directive or some lines of what stands between two of them.

    A comment is a blank. Blanks are tokens in a directive, whose tokens all stand on the line where it begins;
    elsewhere they leave a mark on what follows.

    Raises:
        GenError: a comment is never closed.
        UnsupportedConstruct: a line ends in a backslash and blanks.
    """
    text, joins = _spliced(text)
    kinds: dict[str, str] = {}
    groups: list[list[PPToken]] = [[]]
    group = groups[0]
    start = True  # nothing but blanks so far on this line
    directive = spaced = False
    line, at, join = 1, 0, 0
    for value in _TOKENS.findall(text):
        while joins[join] <= at:  # continued lines before this token
            line += 1
            join += 1
        at += len(value)
        kind = kinds.get(value)
        if kind is None:
            kind = kinds[value] = _kind(value)
            if value == "/*":
                raise GenError(f"{Coord(file, line)}: this comment is never closed")
        if kind not in _BLANK:
            token = PPToken(kind, value, line, file, spaced)
            spaced = False
            if start:
                start = False
                if value == "#":
                    directive = True
                    group = []
                    groups.append(group)
            group.append(token)
            continue
        spaced = True
        if directive:
            group.append(PPToken("CPP_WS", " ", line, file))
        if kind != "CPP_WS" and _ends_in_soft_splice(value):
            why = "compilers differ on whether the next line belongs to this one"
            raise UnsupportedConstruct(Coord(file, line), "\\ and blanks at the end of a line", why)
        if "\n" not in value:
            continue
        line += value.count("\n")
        if kind == "CPP_WS":
            start = True
            if directive:
                _finish(group)
            if directive or len(group) > _GROUP:
                directive = False
                group = []
                groups.append(group)
    if directive:
        _finish(group)
    return [group for group in groups if group]


def _ends_in_soft_splice(text: str) -> bool:
    stripped = text.rstrip("\n")
    return stripped[-1] in " \t" and stripped.rstrip(" \t").endswith("\\")


def _finish(directive: list[PPToken]) -> None:
    first = directive[0]
    for token in directive:
        token.lineno = first.lineno
    directive.append(PPToken("CPP_WS", "\n", first.lineno, first.source))
    words = [token for token in directive if token.type != "CPP_WS"]
    if len(words) > 1 and words[1].value in ("elifdef", "elifndef"):  # pcpp does not know C23's two
        name = words[1]
        test = [" ", "!", "defined", " "] if name.value == "elifndef" else [" ", "defined", " "]
        at = directive.index(name) + 1
        directive[at:at] = [PPToken(_kind(text), text, name.lineno, name.source) for text in test]
        name.value = "elif"


def _spliced(text: str) -> tuple[str, list[float]]:
    """The text with its continued lines joined, and where it was joined (with a last place that is never reached)."""
    first, *others = text.split("\\\n")
    joins: list[float] = []
    at = len(first)
    for part in others:
        joins.append(at)
        at += len(part)
    return "".join([first, *others]), [*joins, math.inf]


def _kind(text: str) -> str:
    first = text[0]
    if first in " \t\f\v\n":
        return "CPP_WS"
    if len(text) > 1 and text[-1] in "\"'" and first in "\"'uUL":
        return "CPP_STRING" if text[-1] == '"' else "CPP_CHAR"
    if first.isascii() and (first.isalpha() or first == "_"):
        return "CPP_ID"
    if first.isdigit() or (first == "." and text[1:2].isdigit()):
        return "CPP_INTEGER" if text.isdecimal() or re.fullmatch(_INTEGER, text) else "CPP_FLOAT"
    if text.startswith(("/*", "//")):
        return "CPP_COMMENT1" if text[1] == "*" else "CPP_COMMENT2"
    if first == "\\" and text[-1] == "\n":
        return "CPP_LINECONT"
    return _NAMED.get(text, text)
