"""Files on their way to their names, and what is left of those whose writers died.

Who is alive? A process number says nothing: it may be somebody else's by now, or another container's. So a writer holds
a lock (flock) on its file, which ends with the process and is seen by every process and container of one machine. The
name tells the machine, by its boot; a file of another one, on a disk that both use, counts as left behind when nobody
holds its lock and nobody wrote to it for an hour, as not every network disk passes locks on.
"""

from __future__ import annotations

import contextlib
import functools
import os
import platform
import re
import secrets
import stat
import sys
import time
import zlib
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import Self

if sys.platform != "win32":
    import fcntl

__all__ = ["OPEN_FLAGS", "TEMPORARY", "Temporary", "sweep"]

#: How such names begin. No key starts with a dot.
TEMPORARY = ".tmp-"

#: Links are not followed, and programs that are started get no copy.
OPEN_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)

_NAME = re.compile(re.escape(TEMPORARY) + r"[0-9]+-([0-9a-f]{8})-[0-9a-f]{16}")

_LEFT_BEHIND = 3600.0  # seconds

_MOST = 1 << 30  # bytes a system call; Linux takes 2 GB


class Temporary:
    """A new file of mode 0600 beside its final name, removed again at the end of the ``with`` if it did not get it."""

    def __init__(self, root: Path) -> None:
        while True:
            self.path = root / f"{TEMPORARY}{os.getpid()}-{_machine()}-{secrets.token_hex(8)}"
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, 0o600)
            # Somebody who sweeps may have seen it before it was locked.
            if _lock(self.file) is not False and os.fstat(self.file).st_nlink:
                return
            os.close(self.file)

    def write(self, data: memoryview) -> None:
        """Write it all, and have it on the disk."""
        done = 0
        while done < len(data):
            done += os.write(self.file, data[done : done + _MOST])
        self.sync()

    def sync(self) -> None:
        """Have it on the disk."""
        os.fsync(self.file)

    def publish(self, path: Path) -> None:
        """Give it its name, in place of what has that name."""
        if sys.platform == "win32":  # no open file is renamed there
            self._close()
        os.replace(self.path, path)  # noqa: PTH105 - the lock is held until now, so nobody swept it
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is not None:
            with contextlib.suppress(OSError):  # a network disk may be busy with it: the next sweep takes it
                self.path.unlink()
        self._close()

    def _close(self) -> None:
        if self.file >= 0:
            os.close(self.file)
            self.file = -1


def sweep(root: Path, names: Iterable[str]) -> None:
    """Remove those among the names that are temporary files and whose writers are dead."""
    for name in names:
        match = _NAME.fullmatch(name)
        if match:
            with contextlib.suppress(OSError):  # gone, not ours to remove, or busy: later
                _sweep(root / name, match[1] == _machine())


def _sweep(path: Path, here: bool) -> None:
    file = os.open(path, os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | OPEN_FLAGS)
    try:
        status = os.fstat(file)
        free = _lock(file)
        sure = here and free is True
        aged = free is not False and time.time() - status.st_mtime > _LEFT_BEHIND
        if stat.S_ISREG(status.st_mode) and (sure or aged):
            path.unlink()  # while it is locked: its writer, if it has only just opened it, sees that
    finally:
        os.close(file)


def _lock(file: int) -> bool | None:
    """Lock it if nobody else has; None where there are no locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


@functools.cache
def _machine() -> str:
    """Eight digits for this machine since it was started; the same in all its containers."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text()[:8]
    except OSError:
        return f"{zlib.crc32(platform.node().encode()):08x}"
