"""Who is alive: a lock on a file that the system drops when its process ends, however it ends.

A process number says less: it is used again, and means another process in another container.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

__all__ = ["claim", "is_free", "let_go"]

_FLAGS = os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def claim(path: Path) -> int | None:
    """Make the file and hold it; gives its descriptor. None where somebody else came first."""
    file = os.open(path, _FLAGS | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        # Whoever found the file before it was held took it for a dead process's, and removes it.
        if _lock(file) and os.path.samestat(os.fstat(file), path.lstat()):
            return file
    except FileNotFoundError:
        pass
    except BaseException:
        os.close(file)
        raise
    os.close(file)
    return None


def is_free(path: Path) -> int | None:
    """Hold the file of a dead process; gives its descriptor. None where its process lives.

    Raises:
        OSError: there is no such file, or it cannot be opened.
    """
    file = os.open(path, _FLAGS)
    if _lock(file):
        return file
    os.close(file)
    return None


def let_go(file: int) -> None:
    """Hold it no longer. In a forked child, its parent goes on holding it."""
    with contextlib.suppress(OSError):
        os.close(file)


try:
    import fcntl

    def _lock(file: int) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True

except ImportError:  # Windows
    import msvcrt

    def _lock(file: int) -> bool:
        try:
            msvcrt.locking(file, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined, unused-ignore]
        except OSError:
            return False
        return True
