"""Third stage: C tokens to a `Header`, through pycparser. What it does not understand, it refuses by name."""

from __future__ import annotations

from pycparser import c_ast
from pycparser.c_parser import CParser, ParseError

from .errors import Coord, GenError, UnsupportedConstruct
from .macros import read_macros
from .model import Header
from .normalise import PACK_MARK, normalise
from .preprocess import Preprocessed, Token
from .walk import Walker

__all__ = ["parse"]

#: Types that a header may use without declaring them, spelt for the parser alone: their size comes from ctypes.
_PREAMBLE = "".join(
    f"typedef int {name};\n"
    for name in (
        "ORTCHAR_T wchar_t size_t ssize_t ptrdiff_t intptr_t uintptr_t bool int8_t int16_t int32_t int64_t "
        "uint8_t uint16_t uint32_t uint64_t"
    ).split()
)


def parse(source: Preprocessed, base: Header | None = None) -> Header:
    """Read the declarations of one header set.

    Args:
        source: what `preprocess` gave.
        base: a header set that is already known: an overlay may use its types.

    Raises:
        UnsupportedConstruct: a declaration has no faithful form in ctypes.
        GenError: the text is not C.
    """
    normalised = normalise(source.tokens)
    known = sorted(_known_names(base)) if base else []
    preamble = _PREAMBLE + "".join(f"typedef int {name};\n" for name in known)
    tree = _syntax_tree(preamble + _text(normalised.tokens))
    walker = Walker(normalised.stdcall, base or Header())
    skip = preamble.count("\n")
    for node in tree.ext[skip:]:
        walker.declaration(node)
    header = walker.finish()
    header.sources = dict(source.hashes)
    read_macros(source.macros, header, walker.enumerators)
    return header


def _known_names(base: Header) -> set[str]:
    return {*base.records, *base.handles, *base.enums, *base.callbacks, *base.typedefs}


def _syntax_tree(text: str) -> c_ast.FileAST:
    try:
        return CParser().parse(text, "header.h")
    except ParseError as error:
        raise GenError(f"not C that the generator can read: {error}") from error


def _text(tokens: list[Token]) -> str:
    """The tokens as text, each on the line of the file that it came from."""
    lines: list[str] = []
    here = Coord("", 0)
    current: list[str] = []
    for token in tokens:
        pragma = token.text.startswith(f"#pragma {PACK_MARK}")
        if token.coord != here or pragma:
            lines.append(" ".join(current))
            current = []
            if not pragma and here.file == token.coord.file and 0 < token.coord.line - here.line <= 4:
                lines.extend([""] * (token.coord.line - here.line - 1))
            else:
                lines.append(f'#line {token.coord.line} "{token.coord.file}"')
            here = token.coord
        if pragma:
            lines.append(token.text)
            here = Coord("", 0)
        else:
            current.append(token.text)
    return "\n".join([*lines, " ".join(current), ""])
