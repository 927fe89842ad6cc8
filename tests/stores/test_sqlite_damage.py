"""A damaged database: never a wrong value, never a crash, and a new database afterwards."""

from __future__ import annotations

import os
import random
import sqlite3
import warnings
from contextlib import closing
from pathlib import Path

import pytest

from ortcache.errors import StoreError
from ortcache.stores.sqlite import SqliteStore
from ortcache.stores.sqlite_schema import PAGE

from ..support.process import run_python

VALUES = {f"k{number}": bytes([number]) * 50_000 for number in range(1, 40)}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A database with values."""
    tmp_path.chmod(0o700)
    with SqliteStore(tmp_path / "cache.db") as store:
        for key, value in VALUES.items():
            store.put(key, value)
    return tmp_path / "cache.db"


def overwrite(path: Path, start: int, data: bytes) -> None:
    with path.open("r+b") as stream:
        stream.seek(start)
        stream.write(data)


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("cache.db.corrupt-*"))


def works_anew(path: Path) -> None:
    """It is moved aside with one warning, and a new one works; also for whoever comes later."""
    damaged = path.read_bytes()
    with pytest.warns(
        RuntimeWarning, match=r"cache\.db was damaged: it is kept as .*cache\.db\.corrupt-.* new one"
    ) as said:
        store = SqliteStore(path)
    assert len(said) == 1
    assert said[0].filename == __file__
    with store:
        assert list(store.keys()) == []
        store.put("new", b"value")
        assert store.get("new") == b"value"
    with SqliteStore(path) as store:
        assert store.get("new") == b"value"
    assert [file.read_bytes() for file in aside(path)] == [damaged]
    assert sorted(file.name for file in path.parent.iterdir()) == ["cache.db", aside(path)[0].name]


@pytest.mark.parametrize(
    ("start", "data"),
    [
        (0, b"not SQLite anymore"),
        (0, bytes(100)),
        (0, bytes(PAGE)),
        (16, b"\xff" * 40),
        (100, os.urandom(400)),
        (PAGE - 200, os.urandom(200)),
    ],
    ids=["magic", "header", "page of zeros", "fields", "schema page", "schema"],
)
def test_damage_at_the_start(path: Path, start: int, data: bytes) -> None:
    overwrite(path, start, data)
    works_anew(path)


@pytest.mark.parametrize("size", [72, 100, PAGE - 1, PAGE, PAGE + 100, 5 * PAGE])
def test_a_file_that_was_cut(path: Path, size: int) -> None:
    os.truncate(path, size)
    works_anew(path)


def test_damage_that_shows_later_is_an_error_and_the_next_one_is_new(path: Path) -> None:
    data = path.read_bytes()
    for start in range(0, len(data), PAGE):
        if data[start] == 0 and data[start + 100] and len(set(data[start + 100 : start + 200])) == 1:
            overwrite(path, start, b"\0\xff\xff\xff")  # a page of a value: the number of the next one
    store = SqliteStore(path)
    with pytest.raises(StoreError, match="it is damaged; it is moved aside when it is opened next") as raised:
        for key, value in VALUES.items():
            assert store.get(key) in (value, None)
    assert isinstance(raised.value.__cause__, sqlite3.DatabaseError)
    with pytest.warns(RuntimeWarning, match="was damaged: it is kept as"):
        assert store.get("k1") is None  # the same store goes on, too
    store.put("k1", b"new")
    store.close()
    with SqliteStore(path) as store:
        assert store.get("k1") == b"new"
    assert len(aside(path)) == 1


def test_another_process_that_finds_damage_is_heard(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("DELETE FROM ortcache_chunks WHERE id >= (SELECT max(id) FROM ortcache_chunks)")
        db.commit()
    told = run_python(
        """
        import sys
        from ortcache.errors import StoreError
        from ortcache.stores.sqlite import SqliteStore
        try: SqliteStore(sys.argv[1]).get("k39")
        except StoreError as error: print(error)
        """,
        path,
    )
    assert "it is damaged" in told and "a part of 'k39' is missing" in told
    works_anew_marked(path)


def works_anew_marked(path: Path) -> None:
    with pytest.warns(RuntimeWarning, match="was damaged"), SqliteStore(path) as store:
        assert list(store.keys()) == []
        store.put("new", b"value")
    with SqliteStore(path) as store:
        assert store.get("new") == b"value"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE ortcache_entries SET size = size + 1 WHERE key = 'k7'",
        "UPDATE ortcache_chunks SET data = x'00' WHERE id = (SELECT max(id) FROM ortcache_chunks)",
        "DELETE FROM ortcache_chunks",
    ],
)
def test_tables_that_do_not_agree(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute(statement)
        db.commit()
    with SqliteStore(path) as store, pytest.raises(StoreError, match="it is damaged"):
        for key, value in VALUES.items():
            assert store.get(key) == value
    works_anew_marked(path)


def test_a_sum_that_is_wrong_does_not_hang(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("UPDATE ortcache_total SET bytes = 1000000000000")
        db.commit()
    with SqliteStore(path, max_size="10M") as store, pytest.raises(StoreError, match="the sum of the sizes is wrong"):
        store.put("new", b"x")
    works_anew_marked(path)


def test_only_the_latest_is_kept(path: Path) -> None:
    for turn in range(3):
        overwrite(path, 0, b"damaged %d" % turn)
        with pytest.warns(RuntimeWarning, match="was damaged"):
            SqliteStore(path).close()
    (kept,) = aside(path)
    assert kept.read_bytes().startswith(b"damaged 2")


def test_whoever_still_has_the_old_one_open_goes_on_with_the_new_one(path: Path) -> None:
    first = SqliteStore(path)
    assert first.get("k1") == VALUES["k1"]
    first.put("in-the-wal", b"x")
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        db.execute("PRAGMA user_version = -1")
    with pytest.warns(RuntimeWarning, match="was damaged"):
        second = SqliteStore(path)
    second.put("new", b"value")
    assert first.get("new") == b"value"
    first.put("new", b"other")
    first.close()  # does not take away what the other has beside the new file
    assert second.get("new") == b"other"
    second.put("last", b"x")
    second.close()
    with SqliteStore(path) as third:
        assert sorted(third.keys()) == ["last", "new"]


def test_processes_that_open_a_damaged_one_at_once_share_the_new_one(path: Path) -> None:
    overwrite(path, 0, b"damaged")
    told = run_python(
        """
        import subprocess, sys, warnings
        code = '''
        import sys, warnings
        from ortcache.stores.sqlite import SqliteStore
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            with SqliteStore(sys.argv[1], timeout=30) as store:
                store.put(f"k{sys.argv[2]}", sys.argv[2].encode())
        print(len(said))
        '''
        import textwrap
        processes = [subprocess.Popen([sys.executable, "-c", textwrap.dedent(code), sys.argv[1], str(n)],
                                      stdout=subprocess.PIPE, text=True) for n in range(6)]
        print(sorted(process.communicate()[0].strip() for process in processes))
        """,
        path,
    )
    assert told == "['0', '0', '0', '0', '0', '1']\n"
    with SqliteStore(path) as store:
        assert sorted(store.keys()) == [f"k{number}" for number in range(6)]
    assert len(aside(path)) == 1


@pytest.mark.parametrize("seed", range(40))
def test_noise_anywhere_never_crashes_and_never_gives_more_than_was_put(path: Path, seed: int) -> None:
    noise = random.Random(seed)
    size = path.stat().st_size
    for _ in range(noise.randrange(1, 6)):
        length = noise.choice([1, 8, 100, PAGE])
        overwrite(path, noise.randrange(size - length), noise.randbytes(length))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        try:
            with SqliteStore(path, max_size="2M") as store:
                for key, value in VALUES.items():
                    found = store.get(key)
                    assert found is None or len(found) == len(value)
                for number in range(10):
                    store.put(f"new{number}", bytes(100_000))
                list(store.keys())
        except (StoreError, ValueError):  # a ValueError: nothing tells any more that it is ours
            pass
        if path.read_bytes()[:16] == b"SQLite format 3\0":
            for turn in range(3):
                try:
                    with SqliteStore(path) as store:
                        store.put("after", b"x")
                        assert store.get("after") == b"x"
                        break
                except StoreError:
                    assert turn < 2
                except ValueError:
                    break


def test_a_file_that_is_being_merged_is_not_damaged(path: Path) -> None:
    run_python(
        "import os, sys; from ortcache.stores.sqlite import SqliteStore\n"
        "store = SqliteStore(sys.argv[1]); store.put('new', bytes(5_000_000)); os._exit(0)",
        path,
    )
    assert path.with_name("cache.db-wal").stat().st_size > 5_000_000
    overwrite(path, 28, (1000).to_bytes(4))  # the first page came first: it says how many there will be
    with SqliteStore(path) as store:
        assert store.get("new") == bytes(5_000_000)
        assert all(store.get(key) == value for key, value in VALUES.items())
    assert aside(path) == []
