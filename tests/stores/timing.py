"""The bound on how long a store may hang."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

__all__ = ["in_time"]

_NOISE = 0.15  # seconds that a busy machine may add


@contextlib.contextmanager
def in_time(timeout: float, what: str) -> Iterator[None]:
    """Fails where it takes more than 1.5 times the timeout."""
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    assert took <= 1.5 * timeout + _NOISE, f"{what} took {took:.3f} s with a timeout of {timeout} s"
