"""Sizes in bytes, as people write them."""

from __future__ import annotations

import re
from fractions import Fraction

from ..errors import InputError

__all__ = ["parse_size"]

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}

#: A number, then a unit letter with or without "B" or "iB", or "B" alone.
_SIZE = re.compile(r"([0-9]{1,20}(?:\.[0-9]{0,20})?|\.[0-9]{1,20}) ?(?:([kmgt])(?:i?b)?|b)?", re.ASCII | re.IGNORECASE)

#: What every backend can count: a signed 64-bit number.
_LARGEST = (1 << 63) - 1

_ALLOWED = (
    "write a number of bytes above 0, or a number with K, M, G or T (powers of 1024), such as 512K, 100MiB or 3.5G"
)


def parse_size(size: str | int) -> int:
    """The bytes that ``size`` means.

    Args:
        size: a whole number of bytes, or text: a number, and a unit where there is one. Units are powers of 1024, in
            either case, with or without "B" or "iB": ``512k``, ``100MiB``, ``3.5G``. Parts of a byte are dropped.

    Raises:
        InputError: it is no size, or not above 0.
    """
    if isinstance(size, int) and not isinstance(size, bool):
        found = size
    else:
        match = _SIZE.fullmatch(size.strip()) if isinstance(size, str) else None
        if match is None:
            raise InputError(f"{repr(size)[:60]} is no size: {_ALLOWED}")
        found = int(Fraction(match[1]) * _UNITS[(match[2] or "").lower()])
    if not 0 < found <= _LARGEST:
        limit = "is not above 0" if found <= 0 else "is above 8 EiB"
        raise InputError(f"the size {size!r} {limit}: {_ALLOWED}")
    return found
