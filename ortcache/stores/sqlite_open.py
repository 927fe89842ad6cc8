"""Opening a store's database: only one of ours, and one that is sound.

Whose a file is, is read without locks and without touching it. A database is made under a temporary name, so under its
own name there is a whole one or none. One that is damaged is moved aside. All that happens under a lock (flock) on the
directory, so that nobody opens what is just being moved.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import sqlite3
import stat
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError, StoreError
from ..warn import warn_user
from .private import is_trusted
from .sqlite_errors import busy, is_damage, needs_write
from .sqlite_schema import APPLICATION_ID, DAMAGED, MARK, PAGE, VERSION, check_tables, make_tables
from .temporary import Temporary

if sys.platform != "win32":
    import fcntl

__all__ = ["Opened", "open_database"]

_SIDE_FILES = ("-wal", "-shm")


@dataclass(frozen=True)
class Opened:
    """A connection.

    Attributes:
        db: SQLite's.
        file: which file it is to.
        lasting: may it be used again? Where no lock can be taken it is for one read, of a file that nobody wrote
            meanwhile.
    """

    db: sqlite3.Connection
    file: tuple[int, ...]
    lasting: bool = True

    def is_current(self, path: Path) -> bool:
        """Is it to what has that name now?"""
        return self.file == _file(path, lasting=self.lasting)


def open_database(path: Path, timeout: float, wal: int) -> Opened:
    """Connect; where there is no database, make one; where it is damaged, move it aside first.

    Args:
        timeout: seconds to wait for others who open it.
        wal: bytes of changes in the -wal file before they are merged, and what stays of that file afterwards.

    Raises:
        InputError: the file is something else, or not safe to use.
        StoreError, OSError, sqlite3.Error: it cannot be opened or made.
    """
    with _locked(path.parent, timeout, exclusive=False):
        opened = _try(path, wal)
    if opened is not None:
        return opened
    moved = None
    with _locked(path.parent, timeout, exclusive=True):
        opened = _try(path, wal)  # somebody else may have been faster
        if opened is None:
            moved = _move_aside(path)
            with Temporary(path.parent) as temporary:
                make_tables(temporary.path)
                temporary.sync()
                temporary.publish(path)
            opened = _try(path, wal)
            assert opened is not None
    if moved is not None:
        try:
            warn_user(f"the cache database {path} was damaged: it is kept as {moved}, and a new one is begun")
        except Warning:
            opened.db.close()
            raise
    return opened


def _try(path: Path, wal: int) -> Opened | None:
    """Connect; None where there is nothing, or something damaged."""
    if not _is_ours(path):
        return None
    try:
        return _connect(path, wal)
    except sqlite3.DatabaseError as error:
        if is_damage(error):
            return None
        raise


def _is_ours(path: Path) -> bool:
    """False where there is nothing, or what is left of a database of ours."""
    try:
        status = path.lstat()
    except FileNotFoundError:
        return False
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"the cache database {path} is a link or no file: name the file itself")
    if hasattr(os, "geteuid") and (not is_trusted(path, status) or status.st_mode & stat.S_IWOTH):
        raise InputError(f"the cache database {path} belongs to another user, or everybody may write it: use another")
    if status.st_size == 0:
        return False
    try:
        with contextlib.closing(sqlite3.connect(f"{path.as_uri()}?mode=ro&immutable=1", uri=True)) as db:
            # The file alone may have fewer pages than it says, where the others are still in the -wal file.
            db.execute("PRAGMA writable_schema = ON")
            (application,) = db.execute("PRAGMA application_id").fetchone()
            (version,) = db.execute("PRAGMA user_version").fetchone()
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        with path.open("rb") as stream:
            start = stream.read(PAGE)
        if start[68:72] == APPLICATION_ID.to_bytes(4) or MARK in start or not start.strip(b"\0"):
            return False  # zeros are what a crash of the machine may leave
        raise InputError(f"{path} is no cache database of ortcache: it is left as it is; use another path") from error
    if application != APPLICATION_ID:
        raise InputError(f"{path} is another program's database: it is left as it is; use another path")
    if version not in (VERSION, DAMAGED):
        raise InputError(
            f"the cache database {path} was made by another version of ortcache ({version}): use another path"
        )
    return True


def _connect(path: Path, wal: int) -> Opened:
    file = _file(path, lasting=True)
    if os.access(path, os.W_OK) and os.access(path.parent, os.W_OK):
        return Opened(_checked(path, "rw", wal), file)
    changes = path.with_name(f"{path.name}-wal")
    if not (changes.exists() and changes.stat().st_size):  # without files beside it, which would have to be made
        file = _file(path, lasting=False)
        return Opened(_checked(path, "ro&immutable=1", wal), file, lasting=False)
    try:
        return Opened(_checked(path, "ro", wal), file)
    except sqlite3.OperationalError as error:
        if needs_write(error):
            raise StoreError(
                f"the cache database {path} has changes in {changes}: open it once where it may be written"
            ) from error
        raise


def _checked(path: Path, mode: str, wal: int) -> sqlite3.Connection:
    # The caller waits: SQLite's own way of doing so is slow to notice that it is its turn.
    db = sqlite3.connect(
        f"{path.as_uri()}?mode={mode}", uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
    try:
        if mode == "rw":
            db.execute("PRAGMA journal_mode = WAL")
            # A commit that a crash of the machine undoes is a miss; the database stays sound.
            db.execute("PRAGMA synchronous = NORMAL")
            db.execute("PRAGMA secure_delete = OFF")
            db.execute(f"PRAGMA wal_autocheckpoint = {-(-wal // PAGE)}")
            db.execute(f"PRAGMA journal_size_limit = {wal}")
        db.execute("PRAGMA trusted_schema = OFF")
        check_tables(db)
    except BaseException:
        db.close()
        raise
    return db


def _file(path: Path, *, lasting: bool) -> tuple[int, ...]:
    """Which file has that name, and where a connection does not last, in what state; empty where none has it."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return ()
    state = () if lasting else (status.st_size, status.st_mtime_ns)
    return status.st_dev, status.st_ino, *state


def _move_aside(path: Path) -> Path | None:
    """Take the name from what is there, and from what belongs to it; of what was moved before, nothing is kept."""
    aside = None
    if path.exists() and path.stat().st_size:
        for old in path.parent.glob(f"{_literal(path.name)}.corrupt-*"):
            old.unlink(missing_ok=True)
        aside = path.with_name(f"{path.name}.corrupt-{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(2)}")
        path.rename(aside)
    for suffix in _SIDE_FILES:
        with contextlib.suppress(FileNotFoundError):
            side = path.with_name(path.name + suffix)
            side.unlink() if aside is None else side.rename(aside.with_name(aside.name + suffix))
    return aside


def _literal(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "[*?" else letter for letter in name)


@contextlib.contextmanager
def _locked(folder: Path, timeout: float, *, exclusive: bool) -> Iterator[None]:
    if sys.platform == "win32":  # nothing that is open is moved there
        yield
        return
    file = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        end = time.monotonic() + timeout
        while True:
            try:
                fcntl.flock(file, (fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH) | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() < end:
                    time.sleep(0.002)
                    continue
                raise busy("its directory is locked") from None
            except OSError:
                pass  # no such locks on this file system
            break
        yield
    finally:
        os.close(file)
