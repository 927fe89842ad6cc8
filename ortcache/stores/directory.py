"""A value a file in one directory, for several processes at once."""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

from ..keys import check_key
from .eviction import Eviction, scan
from .filenames import file_name, key_of
from .flat import flat
from .ledger import OnEvict, check_fits, parse_cap
from .private import make_private, named_path
from .protocol import Buffer, Entry
from .temporary import OPEN_FLAGS, TEMPORARY, Temporary, sweep

__all__ = ["DirectoryStore"]


class DirectoryStore:
    """Files under a root of its own: 0700, and 0600 for each.

    A value is written under a temporary name, flushed to the disk, and then renamed: whoever reads gets a whole value
    or none. Links are not followed. Temporary files whose writers died are removed when a store is opened.

    With a cap, the values not used for longest make room. The time of a file (its mtime) is that of its last use, so
    there is nothing beside the values that could be lost. In one process the order is exact; what another process read
    counts as used within `RESOLUTION` seconds. No process waits for another, and so the cap is kept as follows: a
    process looks at the whole directory at its first put, and again before what it has put since is a `SHARE` of the
    cap. With n processes the values may take up to ``max_size * (1 + n * SHARE)`` bytes and those that are put in the
    same moment, and ``max_size`` again when each has looked. Files of another mode are somebody else's: they are not
    counted, and do not make room. Without a cap nothing is looked at, and a get writes nothing.

    Args:
        root: the directory; made where it is not there.
        max_size: bytes of all values together, as `parse_size` takes them; None for no cap. Temporary files and what
            the file system adds are not counted.
        on_evict: called with the key and the size of each value that this process removed to make room.

    Raises:
        InputError: the root is no path, a link, no directory, another user's, or writable by everybody (root's own,
            which this user may only read, is read); ``max_size`` is no size; and of `put`: the value is larger than
            that.
        OSError: the root cannot be made; and of every method: what the file system says. What does not fit on the disk
            leaves nothing behind.

    Attributes:
        root: the directory, absolute.
        max_size: bytes, or None.
        on_evict: as it was given; may be set later.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, max_size: str | int | None = None, on_evict: OnEvict | None = None
    ) -> None:
        self.max_size = parse_cap(max_size)
        self.on_evict = on_evict
        self.root = named_path(root)
        make_private(self.root, "cache directory")
        self._eviction = None if self.max_size is None else Eviction(self.root, self.max_size)
        with contextlib.suppress(OSError), os.scandir(self.root) as entries:
            sweep(self.root, (entry.name for entry in entries if entry.name.startswith(TEMPORARY)))

    def get(self, key: str) -> bytes | None:
        path = self._path(key)
        try:
            # Not blocking: whatever else has that name, such as a pipe, is looked at first.
            file = os.open(path, os.O_RDONLY | OPEN_FLAGS | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError:
            if path.is_symlink():  # it is not a value: nobody here makes links
                return None
            raise
        try:
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                return None
            with os.fdopen(file, "rb", closefd=False) as stream:
                value = stream.read()
            if self._eviction is not None:
                self._eviction.used(key, path, file, status.st_mtime_ns)
            return value
        finally:
            os.close(file)

    def put(self, key: str, value: Buffer) -> None:
        path, data = self._path(key), flat(value)
        check_fits(key, len(data), self.max_size)
        with Temporary(self.root) as temporary:
            temporary.write(data)
            if self._eviction is None:
                temporary.publish(path)
                return
            evicted = self._eviction.publish(key, len(data), temporary, path)
        if self.on_evict is not None:
            for victim, size in evicted:
                self.on_evict(victim, size)

    def delete(self, key: str) -> bool:
        try:
            self._path(key).unlink()
        except FileNotFoundError:
            return False
        if self._eviction is not None:
            self._eviction.dropped(key)
        return True

    def keys(self) -> Iterator[str]:
        with os.scandir(self.root) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        return (key for key in map(key_of, names) if key is not None)

    def entries(self) -> Iterator[Entry]:
        """An `Entry` for each value. Without a cap, ``used`` is when it was put."""
        now = time.time_ns()
        for key, size, used in scan(self.root)[0]:
            yield Entry(key, size, min(used, now) / 1e9)

    def __repr__(self) -> str:
        return f"DirectoryStore({str(self.root)!r})"

    def _path(self, key: str) -> Path:
        return self.root / file_name(check_key(key))
