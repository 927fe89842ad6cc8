"""Tokens of standard C to pycparser's syntax tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any

from pycparser import c_ast, c_lexer
from pycparser.c_parser import CParser, ParseError

from .errors import Coord, GenError, UnsupportedConstruct
from .lexer import Token
from .packing import PACK_MARK

__all__ = ["syntax_tree"]

_PLACE = re.compile(r"(?P<file>.*?):(?P<line>\d+):\d+: (?P<what>.*)", re.DOTALL)
_NOWHERE = Coord("", 0)


def syntax_tree(tokens: list[Token], types: Iterable[str] = ()) -> list[c_ast.Node]:
    """The declarations.

    Args:
        types: names that stand for types without a declaration.

    Raises:
        UnsupportedConstruct: it is no C.
        GenError: it is no C, and where it ceases to be cannot be told.
    """
    used = {token.text for token in tokens}
    names = [name for name in types if name in used]
    preamble = [Token(word, _NOWHERE) for name in names for word in ("typedef", "int", name, ";")]
    parser = CParser(lexer=partial(_Lexer, [*preamble, *tokens]))
    try:
        return list(parser.parse("").ext[len(names) :])
    except ParseError as error:
        raise _refusal(str(error), tokens) from error


def _refusal(message: str, tokens: list[Token]) -> GenError:
    found = _PLACE.fullmatch(message)
    if found is None:
        return GenError(f"this is no C that the generator reads: {message}")
    coord = Coord(found["file"], int(found["line"]))
    line = " ".join(token.text for token in tokens if token.coord == coord)
    why = f"this is no C that the generator reads ({found['what']}); is a type there that no header declares?"
    return UnsupportedConstruct(coord, line, why)


class _Lexer(c_lexer.CLexer):  # type: ignore[misc]
    """pycparser's lexer over words that are cut already: it is asked once what kind of word each is."""

    def __init__(self, tokens: list[Token], **options: Any) -> None:
        super().__init__(**options)
        self._words = self._read(tokens)
        self._at = _NOWHERE

    @property
    def filename(self) -> str:
        """Where the parser is: it puts this before what it has to say of no token."""
        return f"{self._at.file}:{self._at.line}:1"

    def input(self, text: str, filename: str = "") -> None:
        """Nothing to do: the words are there."""

    def token(self) -> c_lexer.Token | None:
        return next(self._words, None)

    def _read(self, tokens: list[Token]) -> Iterator[c_lexer.Token]:
        kinds: dict[str, str] = {}
        for text, coord in tokens:
            self._at = coord
            file, line = coord
            if text.startswith(f"#pragma {PACK_MARK}"):
                yield c_lexer.Token("PPPRAGMA", "pragma", line, 1, file)
                yield c_lexer.Token("PPPRAGMASTR", text.removeprefix("#pragma "), line, 1, file)
                continue
            kind = kinds.get(text)
            if kind is None:
                kind = kinds[text] = self._kind(text, coord)
            yield c_lexer.Token(kind, text, line, 1, file)

    def _kind(self, text: str, coord: Coord) -> str:
        super().input(text)
        try:
            word = super().token()
        except ParseError:
            word = None
        if word is None or word.value != text:
            raise UnsupportedConstruct(coord, text, "this is no word of C")
        return str(word.type)
