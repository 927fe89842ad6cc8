"""The file of a SQLite store: whose it is, who may read it, what is beside it, and how large it gets."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from ortcache.errors import ClosedError, InputError, StoreError, StoreTimeoutError
from ortcache.stores.sqlite import SqliteStore
from ortcache.stores.sqlite_schema import CHUNK

from ..support.oracles import need
from ..support.process import run_python


@pytest.fixture
def path(tmp_path: Path) -> Path:
    tmp_path.chmod(0o700)
    return tmp_path / "cache.db"


def files(folder: Path) -> dict[str, bytes]:
    """What is there. Reading a database's files lets go of the locks that this process has on them."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_one_file_is_left_of_mode_0600_whatever_the_umask(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    path, before = tmp_path / "a" / "b" / "cache.db", os.umask(0)
    try:
        with SqliteStore(path) as store:
            store.put("key", b"x")
            assert {name: stat.S_IMODE((path.parent / name).stat().st_mode) for name in names(path.parent)} == {
                "cache.db": 0o600, "cache.db-wal": 0o600, "cache.db-shm": 0o600
            }  # fmt: skip
    finally:
        os.umask(before)
    assert names(path.parent) == ["cache.db"]
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_one_opened_later_has_what_an_earlier_one_put(path: Path) -> None:
    with SqliteStore(path) as store:
        store.put("key", b"value" * 1_000_000)
    with SqliteStore(str(path)) as store:
        assert store.get("key") == b"value" * 1_000_000
        assert list(store.keys()) == ["key"]


def test_one_that_is_not_closed_is_closed_at_the_end(path: Path) -> None:
    run_python(
        "import sys; from ortcache.stores.sqlite import SqliteStore; SqliteStore(sys.argv[1]).put('key', b'x')\n"
        "store = SqliteStore(sys.argv[1]); store.put('other', b'y')",
        path,
    )
    assert names(path.parent) == ["cache.db"]


def test_a_name_that_needs_quoting(tmp_path: Path) -> None:
    path = tmp_path / "a?mode=ro#%41 ö[x]*" / "b?x=1&immutable=1.db"
    with SqliteStore(path) as store:
        store.put("key", b"x")
    assert names(path.parent) == [path.name]
    with SqliteStore(path) as store:
        assert store.get("key") == b"x"


def test_a_relative_path_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with SqliteStore("here.db") as store:
        (tmp_path / "elsewhere").mkdir()
        monkeypatch.chdir(tmp_path / "elsewhere")
        store.put("key", b"x")
    assert names(tmp_path) == ["elsewhere", "here.db"]


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_another_programs_database_is_refused_and_left_as_it_is(path: Path, journal: str) -> None:
    with closing(sqlite3.connect(path)) as other:
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute("CREATE TABLE ortcache_like (x)")
        other.execute("INSERT INTO ortcache_like VALUES (1)")
        other.commit()
        before = files(path.parent)
        with pytest.raises(InputError, match="is another program's database: it is left as it is; use another path"):
            SqliteStore(path)
        assert files(path.parent) == before


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_what_another_program_in_this_process_has_locked_stays_locked(path: Path, journal: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f"PRAGMA journal_mode = {journal}")
        other.execute("CREATE TABLE t (x)")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="is another program's database"):
            SqliteStore(path)
        told = run_python(
            "import sqlite3, sys\n"
            "try: sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')\n"
            "except sqlite3.OperationalError as error: print(error)",
            path,
        )
        assert told == "database is locked\n"


@pytest.mark.parametrize(
    "data",
    [b"text\n", b"SQLite format 3", os.urandom(200_000), b"\0" * 100 + b"x"],
    ids=["text", "cut", "noise", "zeros"],
)
def test_a_file_of_another_kind_is_refused_and_left_as_it_is(path: Path, data: bytes) -> None:
    path.write_bytes(data)
    with pytest.raises(InputError, match="is no cache database of ortcache: it is left as it is; use another path"):
        SqliteStore(path)
    assert files(path.parent) == {"cache.db": data}


def test_a_database_of_a_later_version_is_refused(path: Path) -> None:
    SqliteStore(path).close()
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 2")
    before = files(path.parent)
    with pytest.raises(InputError, match=r"made by another version of ortcache \(2\): use another path"):
        SqliteStore(path)
    assert files(path.parent) == before


def test_an_empty_file_is_a_new_database(path: Path) -> None:
    path.touch(mode=0o644)
    with SqliteStore(path) as store:
        store.put("key", b"x")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 or sys.platform == "win32"
    assert names(path.parent) == ["cache.db"]


def test_what_is_no_file_or_another_users_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("linux", sys.platform == "linux")
    real = path.with_name("real.db")
    SqliteStore(real).close()
    path.symlink_to(real)
    with pytest.raises(InputError, match="is a link or no file"):
        SqliteStore(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InputError, match="is a link or no file"):
        SqliteStore(path)
    real.chmod(0o606)
    with pytest.raises(InputError, match="everybody may write it"):
        SqliteStore(real)
    real.chmod(0o600)
    path.parent.chmod(0o777)
    with pytest.raises(InputError, match="everybody may write into the directory of the cache database"):
        SqliteStore(real)
    path.parent.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: path.parent.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        SqliteStore(real)


def test_a_directory_that_cannot_be_made_is_a_store_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(StoreError, match="cannot be made") as raised:
        SqliteStore(tmp_path / "file" / "folder" / "cache.db")
    assert isinstance(raised.value.__cause__, OSError)


def test_a_closed_one_says_so(path: Path) -> None:
    store = SqliteStore(path)
    store.close()
    store.close()
    for call in (lambda: store.get("key"), lambda: store.put("key", b""), lambda: store.delete("key"), store.keys):
        with pytest.raises(ClosedError, match="was closed"):
            call()


def test_others_who_write_for_too_long(path: Path) -> None:
    with SqliteStore(path, timeout=0.2) as store, closing(sqlite3.connect(path, isolation_level=None)) as other:
        store.put("key", b"before")
        other.execute("BEGIN IMMEDIATE")
        start = time.monotonic()
        with pytest.raises(StoreTimeoutError, match="others did not finish in time") as raised:
            store.put("key", b"after")
        assert 0.2 <= time.monotonic() - start < 5
        assert isinstance(raised.value.__cause__, sqlite3.OperationalError)
        assert store.get("key") == b"before"  # readers do not wait
        other.execute("ROLLBACK")
        store.put("key", b"after")
        assert store.get("key") == b"after"


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "soon", None])
def test_a_timeout_that_is_none_is_refused(path: Path, timeout: float) -> None:
    with pytest.raises(InputError, match="timeout"):
        SqliteStore(path, timeout=timeout)
    assert names(path.parent) == []


def test_a_database_that_is_removed_or_replaced_behind_its_back(path: Path) -> None:
    need("linux", sys.platform == "linux")
    with SqliteStore(path) as store, SqliteStore(path) as other:
        store.put("key", b"x" * 100_000)
        assert other.get("key") == b"x" * 100_000
        for name in names(path.parent):
            (path.parent / name).unlink()
        assert store.get("key") is None
        store.put("key", b"new")
        assert (store.get("key"), other.get("key")) == (b"new", b"new")
        path.unlink()  # and what was beside it is left: it must not come back
        other.put("other", b"y")
        assert sorted(store.keys()) == ["other"]
    assert names(path.parent) == ["cache.db"]
    with SqliteStore(path) as store:
        assert sorted(store.keys()) == ["other"]


def test_room_is_used_again(path: Path) -> None:
    with SqliteStore(path, max_size="12M") as store:
        for turn in range(12):
            store.put(f"k{turn}", os.urandom(4 << 20))
        largest = sum((path.parent / name).stat().st_size for name in names(path.parent))
    assert path.stat().st_size < 14 << 20
    assert largest < (14 << 20) + (40 << 20)  # the -wal file
    with SqliteStore(path) as store:
        assert len(list(store.keys())) == 3


@pytest.mark.parametrize("size", [CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK, 3 * CHUNK + 5])
def test_values_around_the_size_of_a_chunk(path: Path, size: int) -> None:
    value = os.urandom(size)
    with SqliteStore(path) as store:
        store.put("key", b"longer" * CHUNK)
        store.put("key", value)
        assert store.get("key") == value
        store.put("key", value[:100])
        assert store.get("key") == value[:100]
        assert store.delete("key")
        with closing(sqlite3.connect(path)) as db:
            assert db.execute("SELECT count(*) FROM ortcache_chunks").fetchone() == (0,)
            assert db.execute("SELECT bytes FROM ortcache_total").fetchall() == [(0,)]


def test_without_a_cap_a_get_writes_nothing(path: Path) -> None:
    with SqliteStore(path) as store:
        store.put("key", b"x")
        with closing(sqlite3.connect(path, isolation_level=None)) as db:
            db.execute("UPDATE ortcache_entries SET used = 1")
            before = db.execute("PRAGMA data_version").fetchone()
            assert store.get("key") == b"x"
            assert db.execute("PRAGMA data_version").fetchone() == before


def test_with_a_cap_a_use_is_written_where_the_time_that_is_there_is_old(path: Path) -> None:
    with SqliteStore(path, max_size="1M") as store, closing(sqlite3.connect(path, isolation_level=None)) as db:
        store.put("key", b"x")
        before = db.execute("PRAGMA data_version").fetchone()
        for _ in range(10):
            store.get("key")
        assert db.execute("PRAGMA data_version").fetchone() == before
        db.execute("UPDATE ortcache_entries SET used = used - 61000000000")
        assert store.get("key") == b"x"
        ((used,),) = db.execute("SELECT used FROM ortcache_entries")
        assert abs(used / 1e9 - time.time()) < 5
        db.execute("UPDATE ortcache_entries SET used = 1")
        db.execute("BEGIN IMMEDIATE")  # somebody writes: it is written later
        start = time.monotonic()
        assert store.get("key") == b"x"
        assert time.monotonic() - start < 2  # and not waited for
        db.execute("COMMIT")
        store.put("other", b"x")
        ((used,),) = db.execute("SELECT used FROM ortcache_entries WHERE key = 'key'")
        assert abs(used / 1e9 - time.time()) < 5


def test_a_time_to_come_is_not_kept(path: Path) -> None:
    with SqliteStore(path, max_size=200) as store, closing(sqlite3.connect(path, isolation_level=None)) as db:
        store.put("future", bytes(100))
        db.execute("UPDATE ortcache_entries SET used = used + 1000000000000000")
        store.put("a", bytes(100))
        store.put("b", bytes(100))
        assert sorted(store.keys()) == ["a", "b"]
