"""Sizes, ages and times as a command line reads and writes them."""

from __future__ import annotations

import argparse
import re
import time

from ..errors import InputError
from ..stores.size import parse_size

__all__ = ["age", "duration", "moment", "size", "size_text"]

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_NAMES = (("d", 86400), ("h", 3600), ("m", 60), ("s", 1))


def size(text: str) -> int:
    """An option's size, such as 3G."""
    try:
        return parse_size(text)
    except InputError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def duration(text: str) -> float:
    """An option's length of time in seconds, such as 30d or 12h."""
    match = re.fullmatch(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)([smhdw])", text, re.ASCII | re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"{text[:60]!r} is no length of time: write such as 90s, 30m, 12h, 30d or 2w")
    return float(match[1]) * _SECONDS[match[2].lower()]


def size_text(count: int) -> str:
    """Bytes for people: 912 B, 1.5 KiB, 3.0 GiB."""
    if count < 1024:
        return f"{count} B"
    amount, units = count / 1024, ["KiB", "MiB", "GiB", "TiB"]
    while amount >= 1023.95 and len(units) > 1:
        amount /= 1024
        del units[0]
    return f"{amount:.1f} {units[0]}"


def age(used: float | None, now: float | None = None) -> str:
    """How long ago a Unix time was: 5m, 3d; "?" where it is not known."""
    if used is None:
        return "?"
    seconds = max(0.0, (time.time() if now is None else now) - used)
    for name, length in _NAMES:
        if seconds >= length:
            return f"{int(seconds // length)}{name}"
    return "0s"


def moment(used: float | None) -> str:
    """A Unix time as local date and time with its offset; "?" where it is not known."""
    return "?" if used is None else time.strftime("%Y-%m-%d %H:%M:%S%z", time.localtime(used))
