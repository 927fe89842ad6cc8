"""A store that is opened when it is first used."""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator

from .protocol import Buffer, Entry, Store, close_store, list_entries
from .url import plan_store

__all__ = ["LateStore"]


class LateStore:
    """What a URL or a path names.

    A wrong name is an error at once. A store that cannot be opened (a disk that is read-only, a folder of another
    user's) is an error of each call, like any other failure of a store. It is closed with the last reference
    to this object, or by `close`.

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
        self._opened: list[Store] = [] if self._plan.on_disk else [self._plan.open()]
        weakref.finalize(self, _close, self._opened)

    @property
    def inner(self) -> Store | None:
        """The store, once it is open."""
        return self._opened[0] if self._opened else None

    def get(self, key: str) -> bytes | None:
        return self._store().get(key)

    def put(self, key: str, value: Buffer) -> None:
        self._store().put(key, value)

    def delete(self, key: str) -> bool:
        return self._store().delete(key)

    def keys(self) -> Iterator[str]:
        return self._store().keys()

    def entries(self) -> Iterator[Entry]:
        return list_entries(self._store())

    def __repr__(self) -> str:
        return f"LateStore({self.inner!r})" if self._opened else "LateStore(not opened yet)"

    def close(self) -> None:
        """Close what is open. Using it again opens it anew."""
        _close(self._opened)

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
    while opened:
        close_store(opened.pop())
