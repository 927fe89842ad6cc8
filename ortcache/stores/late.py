"""A store that is opened when it is first used."""

from __future__ import annotations

import os
import threading
import weakref

from .protocol import Buffer, Store, close_store
from .url import plan_store

__all__ = ["LateStore"]


class LateStore:
    """What a URL or a path names, for reading and writing.

    A wrong name is an error at once. A store that cannot be opened (a disk that is read-only, a folder of another
    user's) is an error of each `get` and `put`, like any other failure of a store. It is closed with the last reference
    to this object.

    Args:
        where: as `open_store` takes it.

    Attributes:
        read_only: does it refuse to write?

    Raises:
        InputError: it names no store.
        StoreError: the library that such a store needs is not installed.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        self._plan = plan_store(where)
        self.read_only = self._plan.mode == "r"
        self._opening = os.getpid(), threading.RLock()
        self._opened: list[Store] = []
        weakref.finalize(self, _close, self._opened)

    def get(self, key: str) -> bytes | None:
        return self._store().get(key)

    def put(self, key: str, value: Buffer) -> None:
        self._store().put(key, value)

    def _store(self) -> Store:
        pid, lock = self._opening
        if pid != os.getpid():  # no fork waits for this lock: what is opened under it has locks that a fork waits for
            lock = threading.RLock()
            self._opening = os.getpid(), lock
        with lock:
            if not self._opened:
                self._opened.append(self._plan.open())
            return self._opened[0]


def _close(opened: list[Store]) -> None:
    for store in opened:
        close_store(store)
