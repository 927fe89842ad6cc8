"""The cap of a directory: which files make room for another.

What is in the directory is known from one look at it and from what this process did since. Looking again at every put
would cost as much as there are files; so it is done before what was put since becomes a fixed share of the cap, which
makes the cost of a put the same however many files there are.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import deque
from pathlib import Path

from .filenames import file_name, key_of
from .fork import ForkLock
from .ledger import Ledger
from .temporary import TEMPORARY, Temporary, sweep

__all__ = ["RESOLUTION", "SHARE", "Eviction", "scan"]

#: Seconds. A use is written to the file's time where the time that is there is older.
RESOLUTION = 60

#: Of the cap: less than this is put by this process between two looks at the directory.
SHARE = 1 / 16


class Eviction:
    """What this process knows of a capped directory.

    The lock is this process's own, and is not held while a value is copied.
    """

    def __init__(self, root: Path, max_size: int) -> None:
        self._root = root
        self._max_size = max_size
        self._lock = ForkLock()
        self._ledger: Ledger | None = None
        self._put = 0  # bytes, in ignorance of what others put since the last look
        #: Uses that the ledger does not know yet. A get waits for no lock.
        self._uses: deque[tuple[str, int]] = deque(maxlen=1 << 16)

    def used(self, key: str, path: Path, file: int, before: int) -> None:
        """A value was read from this open file, whose time was ``before``."""
        now = time.time_ns()
        self._uses.append((key, now))
        if abs(now - before) > RESOLUTION * 1_000_000_000:
            with contextlib.suppress(OSError):  # such as a root that may only be read
                os.utime(file if os.utime in os.supports_fd else path, ns=(now, now))

    def publish(self, key: str, size: int, temporary: Temporary, path: Path) -> list[tuple[str, int]]:
        """Give a file its name, and remove others for it before; their keys and sizes."""
        with self._lock:
            ledger = self._known(size, temporary)
            evicted = self._make_room(ledger, key, size)
            now = time.time_ns()
            with contextlib.suppress(OSError):  # not every file system sets times
                os.utime(temporary.path, ns=(now, now))  # its own are too coarse for an order
            temporary.publish(path)
            ledger.put(key, size, now)
        return evicted

    def dropped(self, key: str) -> None:
        """A value was deleted."""
        with self._lock:
            if self._ledger is not None:
                self._ledger.drop(key)

    def _known(self, size: int, temporary: Temporary) -> Ledger:
        self._put += size
        if self._ledger is None or self._put >= self._max_size * SHARE:
            self._ledger = self._look(self._ledger or Ledger(), os.fstat(temporary.file).st_mode)
            self._put = 0
        while self._uses:
            self._ledger.use(*self._uses.popleft())
        return self._ledger

    def _look(self, before: Ledger, mode: int) -> Ledger:
        finer = {key: used for key, _, used in before}
        # A file that no store made has another mode: where the root is no directory of its own, it is not to go.
        values, left = scan(self._root, mode)
        sweep(self._root, left)
        now, found = time.time_ns(), []
        for key, size, used in values:
            if used > now:  # a clock was wrong: it would be kept until then
                used = finer.get(key, now)
                with contextlib.suppress(OSError):
                    os.utime(self._root / file_name(key), ns=(used, used))
            found.append((key, size, max(used, finer.get(key, 0))))
        return Ledger(found)

    def _make_room(self, ledger: Ledger, key: str, size: int) -> list[tuple[str, int]]:
        evicted = []
        for _ in range(len(ledger)):
            oldest = ledger.oldest(besides=key)
            if oldest is None or ledger.total - ledger.size(key) + size <= self._max_size:
                break
            victim, known, used = oldest
            path = self._root / file_name(victim)
            try:
                status = path.lstat()
                if used < status.st_mtime_ns <= time.time_ns():  # another process used it since
                    ledger.put(victim, status.st_size, status.st_mtime_ns)
                    continue
                path.unlink()
                evicted.append((victim, known))
            except FileNotFoundError:
                pass
            except OSError:  # busy on a network disk, or not ours to remove
                ledger.use(victim, used)
                continue
            ledger.drop(victim)
        return evicted


def scan(root: Path, mode: int | None = None) -> tuple[list[tuple[str, int, int]], list[str]]:
    """Key, size and time in nanoseconds of each value (that has this mode), and the names that are temporary."""
    values, temporary = [], []
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name.startswith(TEMPORARY):
                temporary.append(entry.name)
                continue
            key = key_of(entry.name)
            with contextlib.suppress(FileNotFoundError):
                if key is not None and entry.is_file(follow_symlinks=False):
                    status = entry.stat(follow_symlinks=False)
                    if mode is None or mode == status.st_mode:
                        values.append((key, status.st_size, status.st_mtime_ns))
    return values, temporary
