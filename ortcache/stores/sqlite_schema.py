"""The tables of a store's database, and how such a database is known.

A value is cut into chunks, because a blob of SQLite ends at 1 GB, and because each chunk that is put is copied once.
The chunks of entry n have the row ids from n * `PARTS` on. `CHUNK` and the page size were measured: of 16 MB, larger
chunks are slower to put, and larger pages make a put of a small value slower than they make a large one faster.

Triggers keep the sum of the sizes, so it is right whoever writes.

Space that is freed is used again for later values, and the file does not shrink: auto_vacuum is off, as it would move
pages at every eviction.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from .sqlite_errors import damage

__all__ = ["APPLICATION_ID", "CHUNK", "DAMAGED", "MARK", "PAGE", "PARTS", "VERSION", "check_tables", "make_tables"]

APPLICATION_ID = 0x6F727463

#: Of the tables: SQLite's user_version.
VERSION = 1

#: The user_version of a database in which damage was found.
DAMAGED = -1

#: Bytes.
CHUNK, PAGE = 4 << 20, 16 << 10

#: The most chunks of a value.
PARTS = 1 << 20

#: In the first page of every such database, however damaged its header is.
MARK = b"CREATE TABLE ortcache_entries"

_TABLES = f"""
{MARK.decode()} (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, size INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE INDEX ortcache_used ON ortcache_entries (used);
CREATE TABLE ortcache_chunks (id INTEGER PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE ortcache_total (bytes INTEGER NOT NULL);
INSERT INTO ortcache_total VALUES (0);
CREATE TRIGGER ortcache_added AFTER INSERT ON ortcache_entries
BEGIN UPDATE ortcache_total SET bytes = bytes + NEW.size; END;
CREATE TRIGGER ortcache_removed AFTER DELETE ON ortcache_entries
BEGIN UPDATE ortcache_total SET bytes = bytes - OLD.size; END;
CREATE TRIGGER ortcache_resized AFTER UPDATE OF size ON ortcache_entries
BEGIN UPDATE ortcache_total SET bytes = bytes + NEW.size - OLD.size; END;
PRAGMA application_id = {APPLICATION_ID};
PRAGMA user_version = {VERSION};
"""


def make_tables(file: Path) -> None:
    """Make an empty file a database. Nobody else has it yet, so nothing is kept beside it meanwhile."""
    db = sqlite3.connect(file, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode = MEMORY")
        db.execute("PRAGMA auto_vacuum = NONE")
        db.execute(f"PRAGMA page_size = {PAGE}")
        db.executescript(f"BEGIN; {_TABLES} COMMIT;")
    finally:
        db.close()


def check_tables(db: sqlite3.Connection) -> None:
    """Read a little of everything.

    Raises:
        sqlite3.Error: the database is damaged as far as that shows, or SQLite cannot open it.
    """
    (version,) = db.execute("PRAGMA user_version").fetchone()
    total = db.execute("SELECT bytes FROM ortcache_total").fetchone() if version == VERSION else None
    if total is None:
        raise damage("damage was found in it before")
    db.execute("SELECT id, size, used FROM ortcache_entries WHERE key = ''").fetchone()
    db.execute("SELECT data FROM ortcache_chunks WHERE id = 0").fetchone()
