"""Times as options give them."""

from __future__ import annotations

import math

from ..errors import InputError

__all__ = ["check_seconds"]

#: Some 30 years: what systems and libraries can wait for ends somewhere above.
_MOST = 1e9


def check_seconds(name: str, value: object, *, zero: bool = False) -> float:
    """Seconds above 0 (from 0 on where ``zero``) up to a billion, also as text.

    Raises:
        InputError: it is no such number.
    """
    try:
        seconds = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        seconds = math.nan
    if isinstance(value, bool) or not (0 < seconds <= _MOST or (zero and seconds == 0)):
        raise InputError(
            f"{name} is a number of seconds {'from' if zero else 'above'} 0 up to {_MOST:.0e}, not {value!r}"
        )
    return seconds
