"""What SQLite's errors mean to a store."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TypeVar

from ..errors import StoreError, StoreTimeoutError

__all__ = ["busy", "damage", "is_busy", "is_damage", "is_full", "needs_write", "store_error"]

_Error = TypeVar("_Error", bound=sqlite3.Error)

_SAID = {
    sqlite3.SQLITE_FULL: "the disk is full",
    sqlite3.SQLITE_READONLY: "it may only be read",
    sqlite3.SQLITE_IOERR: "the disk failed",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened",
}


def store_error(error: sqlite3.Error, path: Path) -> StoreError:
    """Ours for SQLite's; the caller raises it from the other."""
    if is_busy(error):
        return StoreTimeoutError(f"the cache database {path} is in use: others did not finish in time")
    said = "it is damaged; it is moved aside when it is opened next" if is_damage(error) else _SAID.get(_code(error))
    return StoreError(f"the cache database {path}: {f'{said} ({error})' if said else error}")


def is_busy(error: sqlite3.Error) -> bool:
    """Does somebody else use it right now?"""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def is_damage(error: sqlite3.Error) -> bool:
    """Is what the file holds no sound database?"""
    return _code(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def is_full(error: sqlite3.Error) -> bool:
    """Is there no room on the disk?"""
    return _code(error) == sqlite3.SQLITE_FULL


def needs_write(error: sqlite3.Error) -> bool:
    """Is it that SQLite cannot make its files beside the database?"""
    return _code(error) in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)


def busy(text: str) -> sqlite3.OperationalError:
    """As SQLite's own, for what it does not see."""
    return _error(sqlite3.OperationalError(text), sqlite3.SQLITE_BUSY)


def damage(text: str) -> sqlite3.DatabaseError:
    """Likewise."""
    return _error(sqlite3.DatabaseError(text), sqlite3.SQLITE_CORRUPT)


def _error(error: _Error, code: int) -> _Error:
    error.sqlite_errorcode = code
    return error


def _code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF  # without what an extended code adds
