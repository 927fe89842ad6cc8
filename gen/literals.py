"""C's literals to Python's values."""

from __future__ import annotations

import re
import struct
from typing import NamedTuple

from .errors import Coord, UnsupportedConstruct

__all__ = ["Integer", "character", "floating", "integer", "string"]

# Compiled at their first use: most headers have no literal that needs one.
_INTEGER = (
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9][0-9]*))(?P<suffix>[uUlL]*)"
)
_FLOATING = (
    r"(?P<number>0[xX][0-9a-fA-F.]+[pP][+-]?[0-9]+|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)(?P<suffix>[fFlL]?)"
)
_ESCAPE = r"\\(?:(?P<oct>[0-7]{1,3})|x(?P<hex>[0-9a-fA-F]+)|u(?P<u4>[0-9a-fA-F]{4})|U(?P<u8>[0-9a-fA-F]{8})|(?P<one>.))"
_STRING = re.compile(r'\s*(u8|[uUL])?"((?:[^"\\]|\\.)*)"')

_BASES = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}
_SUFFIXES = {"", "u", "l", "ul", "lu", "ll", "ull", "llu"}
_ONE = {
    "n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "\\": "\\", "'": "'", '"': '"',
    "?": "?",
}  # fmt: skip


class Integer(NamedTuple):
    value: int
    unsigned: bool  # u
    longs: int  # how many l
    decimal: bool


def integer(text: str, coord: Coord) -> Integer:
    """An integer literal, with its suffix and base."""
    match = re.fullmatch(_INTEGER, text.replace("'", ""))
    suffix = match["suffix"].lower() if match else "?"
    if match is None or suffix not in _SUFFIXES:
        raise UnsupportedConstruct(coord, text, "it is no integer that every compiler reads")
    base = next(name for name in _BASES if match[name])
    return Integer(int(match[base], _BASES[base]), "u" in suffix, suffix.count("l"), base == "dec")


def floating(text: str, coord: Coord) -> float:
    """A floating-point literal: the value that C gives it in its own type."""
    match = re.fullmatch(_FLOATING, text.replace("'", ""))
    if match is None:
        raise UnsupportedConstruct(coord, text, "it is no number that every compiler reads")
    number, suffix = match["number"], match["suffix"].lower()
    hexadecimal = number[:2].lower() == "0x"
    value = float.fromhex(number) if hexadecimal else float(number)
    if suffix == "f":
        return float(struct.unpack("f", struct.pack("f", value))[0])
    if suffix == "l" and (hexadecimal or not _is_exact(number, value)):
        raise UnsupportedConstruct(coord, text, "platforms give it different precision")
    return value


def _is_exact(number: str, value: float) -> bool:
    from fractions import Fraction  # slow to import, and hardly ever needed

    return Fraction(number) == Fraction(value)


def character(text: str, coord: Coord) -> int:
    """The value of a character constant: ASCII, of any width. The rest is up to the compiler."""
    body = text[text.index("'") + 1 : -1]
    decoded = _unescape(body, coord)
    if len(decoded) != 1 or ord(decoded) > 127:
        raise UnsupportedConstruct(coord, text, "its value is up to the compiler")
    return ord(decoded)


def string(text: str, coord: Coord) -> str:
    """The characters of one string literal, or of several that stand side by side.

    Raises:
        UnsupportedConstruct: its bytes are no UTF-8, or it has an escape that C does not have.
    """
    parts: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        match = _STRING.match(text, at)
        if match is None:
            raise UnsupportedConstruct(coord, text, "it is no string")
        parts.append(_unescape(match[2], coord, wide=match[1] in ("L", "u", "U")))
        at = match.end()
    try:
        # An escape below 256 in a narrow string is a byte, and so is what was no UTF-8 in the file itself.
        return "".join(parts).encode("utf-8", "surrogateescape").decode("utf-8")
    except UnicodeError as error:
        raise UnsupportedConstruct(coord, "a string", "its bytes are no UTF-8") from error


def _unescape(body: str, coord: Coord, *, wide: bool = False) -> str:
    """The characters; a byte that is no ASCII comes as the surrogate that stands for it."""

    def one(match: re.Match[str]) -> str:
        if match["one"]:
            if match["one"] not in _ONE:
                raise UnsupportedConstruct(coord, match[0], "C has no such escape")
            return _ONE[match["one"]]
        if match["u4"] or match["u8"]:
            return _letter(int(match["u4"] or match["u8"], 16), match[0], coord)
        code = int(match["oct"], 8) if match["oct"] else int(match["hex"], 16)
        if wide or code < 128:
            return _letter(code, match[0], coord)
        if code > 255:
            raise UnsupportedConstruct(coord, match[0], "it is no byte")
        return chr(0xDC00 + code)

    return re.sub(_ESCAPE, one, body) if "\\" in body else body


def _letter(code: int, text: str, coord: Coord) -> str:
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise UnsupportedConstruct(coord, text, "it is no character")
    return chr(code)
