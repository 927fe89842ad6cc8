"""Locks for keys: a few that many keys share."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator

__all__ = ["Stripe", "Stripes"]

_STRIPES = 64


class Stripe:
    """A lock, and how many writes there were under it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # re-entrant: a hook that is told of a write may write
        self.writes = 0

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """One at a time."""
        with self._lock:
            try:
                yield
            finally:
                self.writes += 1

    @contextlib.contextmanager
    def unless_written(self, writes: int) -> Iterator[bool]:
        """Has nobody written since there were that many writes, and does nobody now? Then nobody does meanwhile."""
        if not self._lock.acquire(blocking=False):
            yield False
            return
        try:
            yield self.writes == writes
        finally:
            self._lock.release()


class Stripes:
    """The locks of one store."""

    def __init__(self) -> None:
        self._made = os.getpid(), [Stripe() for _ in range(_STRIPES)]

    def of(self, key: str) -> Stripe:
        pid, stripes = self._made
        if pid != os.getpid():  # a fork copies locks, and no thread that would release them
            stripes = [Stripe() for _ in range(_STRIPES)]
            self._made = os.getpid(), stripes
        return stripes[hash(key) % _STRIPES]
