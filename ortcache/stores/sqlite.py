"""Values in one SQLite database."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Iterator
from typing import Self, TypeVar

from ..errors import StoreError, StoreTimeoutError
from ..keys import check_key
from .flat import flat
from .ledger import OnEvict, check_fits, parse_cap
from .private import make_private, named_path
from .protocol import Buffer, Entry
from .seconds import check_seconds
from .sqlite_errors import busy, is_busy, is_damage, is_full, store_error
from .sqlite_pool import Pool
from .sqlite_transaction import transact
from .sqlite_values import delete_value, note_uses, read_value, write_value
from .temporary import TEMPORARY, sweep

__all__ = ["SqliteStore"]

_Result = TypeVar("_Result")

#: Seconds. A use is written at once where the time that is there is older.
_RESOLUTION = 60

#: Bytes in the -wal file before they are merged into the database; under a small cap less.
_WAL = 64 << 20

#: Uses that wait for being written; with so many, a get writes them.
_WAITING = 256


class SqliteStore:
    """One file, for the threads of several processes; a forked child opens it anew.

    A put is one transaction, so a process that is killed leaves the old value or the new one. Readers go on while
    somebody writes (SQLite's WAL mode); writers wait for each other. While it is open there are two more files, of the
    same name with -wal and -shm behind it; the last one who closes merges them into the database. After a crash of the
    whole machine the last values may be missing, and the others are whole.

    With a cap, the values not used for longest make room. In one process their order is exact; what another process
    read counts as used within a minute. Without a cap a get writes nothing. The file does not shrink: its room is used
    again. The -wal file takes up to 64 MB more, or under a small cap a quarter of that, and the largest put.

    A database that is damaged is moved aside, with a warning, to a name with ``.corrupt-`` and the time in it; only the
    latest is kept. Where damage shows later, that call raises StoreError, and the next one begins a new database.

    The file belongs on a local disk: on a network disk (NFS, SMB) SQLite's locks and shared memory do not work between
    hosts. Use a `DirectoryStore` there, a file for each process, or a server.

    Args:
        path: the file; made where it is not there, with its directory. Mode 0600.
        max_size: bytes of all values together, as `parse_size` takes them; None for no cap. What SQLite adds is not
            counted.
        timeout: seconds to wait for others who write.
        on_evict: called with the key and the size of each value that made room, after the put.

    Raises:
        InputError: it is no path; the file is another program's, a link, or another user's, or its directory is a link,
            another user's or writable by everybody; ``max_size`` is no size; and of `put`: the value is larger than
            that.
        StoreTimeoutError: others did not finish in time.
        StoreError: it cannot be opened, read or written; of every method. After a full disk it works again once there
            is room. What may only be read is read, and not written.
        ClosedError: it was closed.

    Attributes:
        path: the file, absolute.
        max_size: bytes, or None.
        on_evict: as it was given; may be set later.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        max_size: str | int | None = None,
        timeout: float = 5.0,
        on_evict: OnEvict | None = None,
    ) -> None:
        self.max_size = parse_cap(max_size)
        self.on_evict = on_evict
        self.path = named_path(path)
        self._timeout = check_seconds("timeout", timeout)
        folder = self.path.parent
        try:
            make_private(folder, "directory of the cache database")
        except OSError as error:
            raise StoreError(f"the directory of the cache database {self.path} cannot be made: {error}") from error
        with contextlib.suppress(OSError), os.scandir(folder) as entries:
            sweep(folder, (entry.name for entry in entries if entry.name.startswith(TEMPORARY)))
        self._notes_uses = self.max_size is not None
        self._uses: deque[tuple[str, int]] = deque(maxlen=4 * _WAITING)
        self._pool = Pool(
            self.path, self._timeout, _WAL if self.max_size is None else min(_WAL, max(_WAL // 16, self.max_size // 4))
        )
        self._run(lambda db: None)

    def get(self, key: str) -> bytes | None:
        check_key(key)
        found = self._run(lambda db: read_value(db, key))
        if found is None:
            return None
        value, used = found
        if self._notes_uses:
            self._used(key, used)
        return value

    def put(self, key: str, value: Buffer) -> None:
        check_key(key)
        data = flat(value)
        check_fits(key, len(data), self.max_size)
        evicted = self._run(lambda db: self._put(db, key, data), write=True)
        self._notes_uses = self.max_size is not None
        if self.on_evict is not None:
            for victim, size in evicted:
                self.on_evict(victim, size)

    def delete(self, key: str) -> bool:
        check_key(key)
        return self._run(lambda db: delete_value(db, key), write=True)

    def keys(self) -> Iterator[str]:
        return iter([key for (key,) in self._run(lambda db: db.execute("SELECT key FROM ortcache_entries").fetchall())])

    def entries(self) -> Iterator[Entry]:
        """An `Entry` for each value. Without a cap, ``used`` is when it was put."""
        found = self._run(lambda db: db.execute("SELECT key, size, used FROM ortcache_entries").fetchall())
        return (Entry(key, size, used / 1e9) for key, size, used in found)

    def close(self) -> None:
        """Close the file. Doing so again does nothing; anything else raises ClosedError from now on."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r})"

    def _put(self, db: sqlite3.Connection, key: str, data: memoryview) -> list[tuple[str, int]]:
        self._write_uses(db)
        return write_value(db, key, data, self.max_size)

    def _used(self, key: str, before: int) -> None:
        now = time.time_ns()
        self._uses.append((key, now))
        if abs(now - before) > _RESOLUTION * 1_000_000_000 or len(self._uses) >= _WAITING:
            try:
                self._run(self._write_uses, write=True, patient=False)
            except StoreTimeoutError:  # somebody writes: these wait for a later one
                pass
            except StoreError:  # nobody may, or the disk is full
                self._notes_uses = False

    def _write_uses(self, db: sqlite3.Connection) -> None:
        uses: dict[str, int] = {}
        with contextlib.suppress(IndexError):
            while True:
                key, used = self._uses.popleft()
                uses[key] = used
        note_uses(db, uses)

    def _run(
        self, work: Callable[[sqlite3.Connection], _Result], *, write: bool = False, patient: bool = True
    ) -> _Result:
        """Do it in one transaction, again and again while others are in the way and there is time."""
        end, merged = time.monotonic() + (self._timeout if patient else 0), False
        while True:
            try:
                with self._pool.connection() as opened:
                    result = transact(opened.db, work, write=write)
                    if not opened.lasting and not opened.is_current(self.path):
                        raise busy("it was written meanwhile")
                    return result
            except sqlite3.Error as error:
                if is_damage(error):
                    self._pool.close_free()
                if is_full(error) and not merged:
                    merged = self._merge()
                    continue
                if not is_busy(error) or time.monotonic() >= end:
                    raise store_error(error, self.path) from error
            except OSError as error:
                raise StoreError(f"the cache database {self.path}: {error}") from error
            time.sleep(random.uniform(0.0002, 0.004))  # not all at the same moment

    def _merge(self) -> bool:
        """Make room on the disk: what the -wal file holds goes into the database, most of it into room that is free."""
        with contextlib.suppress(sqlite3.Error, OSError), self._pool.connection() as opened:
            opened.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return True
