"""One transaction: all of it or nothing."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from .sqlite_errors import is_damage
from .sqlite_schema import DAMAGED

__all__ = ["transact"]

_Result = TypeVar("_Result")


def transact(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], _Result], *, write: bool) -> _Result:
    """Give what ``work`` gives. Damage that it finds is noted in the database, for whoever opens it next."""
    try:
        db.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        result = work(db)
        db.execute("COMMIT")
    except BaseException as error:
        with contextlib.suppress(sqlite3.Error):  # what it found is what is told
            if db.in_transaction:
                db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error) and is_damage(error):
                db.execute(f"PRAGMA user_version = {DAMAGED}")
        raise
    return result
