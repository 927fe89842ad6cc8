"""Values in the tables of a store's database. Each function is called in a transaction."""

from __future__ import annotations

import io
import sqlite3
import time

from .sqlite_errors import damage
from .sqlite_schema import CHUNK, PARTS

__all__ = ["delete_value", "note_uses", "read_value", "write_value"]

#: Bytes read at a time: a buffer of this size is used again and again, where a larger one would be fresh memory.
_STEP = 64 << 10


def read_value(db: sqlite3.Connection, key: str) -> tuple[bytes, int] | None:
    """The value and when it was used last, in nanoseconds; None where there is none."""
    found = db.execute("SELECT id, size, used FROM ortcache_entries WHERE key = ?", (key,)).fetchone()
    if found is None:
        return None
    entry, size, used = found
    whole = io.BytesIO()  # gives its bytes away without a copy
    for row in range(entry * PARTS, entry * PARTS + _parts(size)):
        try:
            blob = db.blobopen("ortcache_chunks", "data", row, readonly=True)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_ERROR:
                raise damage(f"a part of {key!r} is missing") from error
            raise
        with blob:
            while piece := blob.read(_STEP):
                whole.write(piece)
    if whole.tell() != size:
        raise damage(f"{key!r} has {whole.tell()} bytes in place of {size}")
    return whole.getvalue(), used


def write_value(db: sqlite3.Connection, key: str, data: memoryview, max_size: int | None) -> list[tuple[str, int]]:
    """Store a value, and remove others for it before; their keys and sizes."""
    now = time.time_ns()
    found = db.execute("SELECT id FROM ortcache_entries WHERE key = ?", (key,)).fetchone()
    if found is None:
        added = db.execute("INSERT INTO ortcache_entries (key, size, used) VALUES (?, ?, ?)", (key, len(data), now))
        entry = added.lastrowid
        assert entry is not None
    else:
        (entry,) = found
        _delete_chunks(db, entry)
        db.execute("UPDATE ortcache_entries SET size = ?, used = ? WHERE id = ?", (len(data), now, entry))
    evicted = [] if max_size is None else _make_room(db, entry, max_size, now)
    for part in range(_parts(len(data))):
        chunk = data[part * CHUNK : (part + 1) * CHUNK]
        db.execute("INSERT INTO ortcache_chunks (id, data) VALUES (?, ?)", (entry * PARTS + part, chunk))
    return evicted


def delete_value(db: sqlite3.Connection, key: str) -> bool:
    """Remove a value; was there one?"""
    found = db.execute("SELECT id FROM ortcache_entries WHERE key = ?", (key,)).fetchone()
    if found is None:
        return False
    _delete(db, found[0])
    return True


def note_uses(db: sqlite3.Connection, uses: dict[str, int]) -> None:
    """Write when values were used last."""
    db.executemany(
        "UPDATE ortcache_entries SET used = max(used, ?) WHERE key = ?", [(used, key) for key, used in uses.items()]
    )


def _make_room(db: sqlite3.Connection, entry: int, max_size: int, now: int) -> list[tuple[str, int]]:
    # A clock that was wrong would otherwise keep values for as long.
    db.execute("UPDATE ortcache_entries SET used = ? WHERE used > ?", (now, now))
    evicted = []
    while db.execute("SELECT bytes FROM ortcache_total").fetchone()[0] > max_size:
        oldest = db.execute(
            "SELECT id, key, size FROM ortcache_entries WHERE id <> ? ORDER BY used LIMIT 1", (entry,)
        ).fetchone()
        if oldest is None:
            raise damage("the sum of the sizes is wrong")
        _delete(db, oldest[0])
        evicted.append((oldest[1], oldest[2]))
    return evicted


def _delete(db: sqlite3.Connection, entry: int) -> None:
    _delete_chunks(db, entry)
    db.execute("DELETE FROM ortcache_entries WHERE id = ?", (entry,))


def _delete_chunks(db: sqlite3.Connection, entry: int) -> None:
    db.execute("DELETE FROM ortcache_chunks WHERE id BETWEEN ? AND ?", (entry * PARTS, (entry + 1) * PARTS - 1))


def _parts(size: int) -> int:
    return -(-size // CHUNK)
