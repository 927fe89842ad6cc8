"""os.fork: no store is in the middle of something when the process is copied.

Another thread's lock would stay locked in the child for ever, and what the lock protects half changed.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Protocol

__all__ = ["ForkLock", "Pausable", "pause_at_fork"]


class Pausable(Protocol):
    """What stops for a fork."""

    def pause(self) -> None:
        """Wait until nothing is under way, and let nothing begin."""

    def resume(self) -> None:
        """Go on, in the parent and in the child."""


_all: weakref.WeakSet[Pausable] = weakref.WeakSet()
_paused: list[Pausable] = []
_registry = threading.RLock()
_hooked = False


class ForkLock:
    """A lock that a fork waits for."""

    def __init__(self) -> None:
        self._lock = threading.RLock()  # re-entrant: a signal handler may fork
        pause_at_fork(self)

    def pause(self) -> None:
        self._lock.acquire()

    def resume(self) -> None:
        self._lock.release()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *exc: object) -> None:
        self._lock.release()


def pause_at_fork(what: Pausable) -> None:
    """Pause it around every os.fork, for as long as it lives. Processes that run another program need no pause."""
    global _hooked
    with _registry:
        _all.add(what)
        if not _hooked and hasattr(os, "register_at_fork"):
            os.register_at_fork(before=_pause, after_in_parent=_resume, after_in_child=_resume)
            _hooked = True


def _pause() -> None:
    _registry.acquire()
    for what in list(_all):
        what.pause()
        _paused.append(what)


def _resume() -> None:
    while _paused:
        _paused.pop().resume()
    _registry.release()
