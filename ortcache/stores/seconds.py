"""Times as options give them."""

from __future__ import annotations

import math

from ..errors import InputError

__all__ = ["check_seconds"]


def check_seconds(name: str, value: object, *, zero: bool = False) -> float:
    """Seconds above 0 (from 0 on where ``zero``), also as text.

    Raises:
        InputError: it is no such number.
    """
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = math.nan
    if isinstance(value, bool) or not (0 < seconds < math.inf or (zero and seconds == 0)):
        raise InputError(f"{name} is a number of seconds {'from' if zero else 'above'} 0, not {value!r}")
    return seconds
