"""Connections to one database: each is one thread's for as long as it uses it, and no child has its parent's."""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from ..errors import ClosedError, StoreError
from .fork import pause_at_fork
from .sqlite_errors import is_busy
from .sqlite_open import Opened, open_database

__all__ = ["Pool"]

#: Connections that are kept while nobody uses them.
_KEPT = 16

#: Seconds that a fork waits for what is under way: a large value may be.
_FORK_WAIT = 60.0


class Pool:
    """Opens a connection where none is free.

    Before a fork all are closed: SQLite keeps, for each file, what the process has locked, and a child would believe
    that it holds those locks too.

    A file that was removed or replaced is noticed at the next use.
    """

    def __init__(self, path: Path, timeout: float, wal: int) -> None:
        self.path = path
        self._open = functools.partial(open_database, path, timeout, wal)
        self._free: list[Opened] = []
        self._used = 0
        self._pausing = self._closed = self._lost = False
        self._pid = os.getpid()
        self._changed = threading.Condition(threading.RLock())
        self._finalizer = weakref.finalize(self, _close_all, self._free)
        pause_at_fork(self)

    @contextlib.contextmanager
    def connection(self) -> Iterator[Opened]:
        """One for this thread alone. After an error other than a busy database it is not used again."""
        opened = self._take()
        try:
            if opened is not None and not opened.is_current(self.path):
                opened.db.close()
                opened = None
            if opened is None:
                opened = self._open()
            yield opened
        except BaseException as error:
            if opened is not None and not (isinstance(error, sqlite3.Error) and is_busy(error)):
                opened.db.close()
                opened = None
            raise
        finally:
            self._give_back(opened)

    def close_free(self) -> None:
        """Close those that nobody uses."""
        with self._changed:
            _close_all(self._free)

    def close(self) -> None:
        """Close all; those in use as soon as they are not."""
        with self._changed:
            self._closed = True
            self._finalizer()

    def pause(self) -> None:
        self._changed.acquire()
        self._pausing = True
        end = time.monotonic() + _FORK_WAIT
        while self._used and time.monotonic() < end:
            self._changed.wait(1)
        _close_all(self._free)

    def resume(self) -> None:
        if os.getpid() != self._pid:
            self._pid = os.getpid()
            self._lost = self._used > 0
        self._pausing = False
        self._changed.notify_all()
        self._changed.release()

    def _take(self) -> Opened | None:
        with self._changed:
            while self._pausing:
                self._changed.wait()
            if self._closed:
                raise ClosedError(f"the store of {self.path} was closed")
            if self._lost:
                raise StoreError(f"this process was forked while another thread used the cache database {self.path}")
            self._used += 1
            return self._free.pop() if self._free else None

    def _give_back(self, opened: Opened | None) -> None:
        with self._changed:
            self._used -= 1
            if opened is not None:
                if opened.lasting and not self._closed and len(self._free) < _KEPT:
                    self._free.append(opened)
                else:
                    opened.db.close()
            self._changed.notify_all()


def _close_all(free: list[Opened]) -> None:
    while free:
        free.pop().db.close()
