"""Locks that are free in a forked child."""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

__all__ = ["free_in_child", "new_lock"]

_all: weakref.WeakSet[Any] = weakref.WeakSet()


def new_lock() -> Any:
    """A re-entrant lock: the collector may run a finalizer that takes it, on the thread that holds it. What another
    thread holds when the process is forked is free in the child, which does not have that thread."""
    return free_in_child(threading.RLock())


def free_in_child(lock: Any) -> Any:
    """Make a re-entrant lock one of these, for as long as it lives."""
    _all.add(lock)
    return lock


def _free() -> None:
    for lock in list(_all):
        if not lock._is_owned():  # by the thread that forks
            lock._at_fork_reinit()  # as the standard library does with its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free)
