"""A store from what names it: which one, with what options, and what is refused."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError, StoreError
from ortcache.stores import DirectoryStore, MemoryStore, Store
from ortcache.stores.guarded import Guarded
from ortcache.stores.sqlite import SqliteStore
from ortcache.stores.url import open_store, plan_store
from ortcache.stores.verified import Verified

from ..support.oracles import need
from ..support.process import run_python
from ..support.servers import Redis

MAC_KEY = "0123456789abcdef-secret"


def layers(store: Any) -> list[str]:
    """The classes from the outside to the inside."""
    found = []
    while store is not None:
        found.append(type(store).__name__)
        store = getattr(store, "inner", None)
    return found


def innermost(store: Any) -> Any:
    while hasattr(store, "inner"):
        store = store.inner
    return store


def use(store: Store) -> None:
    store.put("key", b"value")
    assert store.get("key") == b"value"
    assert list(store.keys()) == ["key"]
    assert store.delete("key") is True


@pytest.mark.parametrize("url", ["memory:", "memory://", "memory:///", "MEMORY:"])
def test_memory(url: str) -> None:
    store = open_store(url)
    assert type(store) is MemoryStore
    use(store)


@pytest.mark.parametrize("how", ["text", "path", "URL", "URL of localhost", "relative", "home", "encoded"])
def test_a_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    need("linux", sys.platform == "linux")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    where: dict[str, Any] = {
        "text": f"{tmp_path}/a b", "path": tmp_path / "a b", "URL": f"file://{tmp_path}/a%20b",
        "URL of localhost": f"file://localhost{tmp_path}/a b", "relative": "a b", "home": "~/a b",
        "encoded": f"file://{tmp_path}/%61%20b",
    }  # fmt: skip
    store = open_store(where[how])
    assert layers(store) == ["Verified", "DirectoryStore"]
    use(store)
    assert innermost(store).root == tmp_path / "a b"
    assert os.listdir(tmp_path) == ["a b"]  # noqa: PTH208


def test_sqlite_is_named_as_sqlalchemy_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for url, name in (("sqlite:///relative.db", "relative.db"), (f"sqlite:///{tmp_path}/absolute.db", "absolute.db")):
        with open_store(url) as store:  # type: ignore[attr-defined]
            assert layers(store) == ["Verified", "SqliteStore"]
            use(store)
        assert (tmp_path / name).is_file()


def test_a_windows_path_is_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("linux", sys.platform == "linux")  # elsewhere it would be made there
    monkeypatch.chdir(tmp_path)
    for path in ("C:\\cache", "c:/cache", "C:cache"):
        assert layers(open_store(path)) == ["Verified", "DirectoryStore"]


@pytest.mark.parametrize(
    ("url", "inner"),
    [
        ("s3://bucket/some/prefix?region=x", "ObjectStore('s3://bucket/some/prefix')"),
        ("S3://bucket", "ObjectStore('s3://bucket')"),
        ("gs://bucket/p?skip_signature=true", "ObjectStore('gs://bucket/p')"),
        ("az://container/p?account_name=me&skip_signature=true", "ObjectStore('az://container/p')"),
        ("abfs://c@me.dfs.core.windows.net/p?skip_signature=true", "ObjectStore('abfs://c@me.dfs.core.windows.net/p')"),
        ("redis://host", "RedisStore('redis://host', prefix='ortcache:')"),
        ("rediss://me:secret@host:1/2?prefix=x:", "RedisStore('rediss://me:***@host:1/2', prefix='x:')"),
        ("unix:///run/redis.sock?db=1", "RedisStore('unix:///run/redis.sock', prefix='ortcache:')"),
    ],
)
def test_remote_ones_are_guarded_and_not_connected_to(url: str, inner: str) -> None:
    store = open_store(url)
    assert layers(store)[:2] == ["Verified", "Guarded"]
    assert repr(innermost(store)) == inner
    assert "secret" not in repr(store)


def test_a_remote_one_works_by_its_url(redis_url: str, s3: str, bucket: str) -> None:
    use(open_store(redis_url))
    use(open_store(f"s3://{bucket}/p?endpoint={s3}&region=us-east-1&access_key_id=i&secret_access_key=a%2Bb+c"))


def test_modes(tmp_path: Path) -> None:
    for mode, wanted in (
        ("rw", ["Verified", "DirectoryStore"]),
        ("r", ["Verified", "ReadOnly", "DirectoryStore"]),
        ("w", ["WriteOnly", "Verified", "DirectoryStore"]),
    ):
        store = open_store(f"file://{tmp_path}/x?mode={mode}")
        assert layers(store) == wanted
        if mode == "r":
            assert store.get("key") == b"rw"
            with pytest.raises(InputError, match="read-only"):
                store.put("key", b"r")
        else:
            store.put("key", mode.encode())
            assert store.get("key") == (b"rw" if mode == "rw" else None)
    assert open_store(tmp_path / "x", mode="r").get("key") == b"w"


def test_a_damaged_value_stays_where_the_store_is_read_only(tmp_path: Path) -> None:
    open_store(tmp_path / "x").put("key", b"value")
    inner = DirectoryStore(tmp_path / "x")
    inner.put("key", (inner.get("key") or b"")[:-1])
    assert open_store(tmp_path / "x", mode="r").get("key") is None
    assert list(inner.keys()) == ["key"]
    assert open_store(tmp_path / "x").get("key") is None
    assert list(inner.keys()) != ["key"]


def test_a_namespace_is_a_part_of_the_store(tmp_path: Path) -> None:
    url = f"file://{tmp_path}/x"
    one, two = open_store(f"{url}?namespace=one"), open_store(url, namespace="two")
    one.put("key", b"1")
    two.put("key", b"2")
    assert (one.get("key"), two.get("key")) == (b"1", b"2")
    assert sorted(open_store(url).keys()) == ["one.key", "two.key"]
    assert open_store(url).get("one.key") == b"1"


def test_values_are_verified_unless_they_are_in_memory_or_it_is_turned_off(tmp_path: Path) -> None:
    assert layers(open_store(f"file://{tmp_path}/x?verify=0")) == ["DirectoryStore"]
    assert layers(open_store(f"file://{tmp_path}/x?verify=true")) == ["Verified", "DirectoryStore"]
    assert layers(open_store("memory:?verify=1")) == ["Verified", "MemoryStore"]
    assert layers(open_store("memory:", verify=True)) == ["Verified", "MemoryStore"]


def test_a_mac_key_comes_from_a_variable_or_as_argument(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CACHE_KEY", MAC_KEY)
    url = f"file://{tmp_path}/x"
    keyed = open_store(f"{url}?mac_key_env=CACHE_KEY")
    keyed.put("key", b"value")
    assert open_store(url, mac_key=MAC_KEY.encode()).get("key") == b"value"
    assert open_store(url, mode="r").get("key") is None  # it is sealed with another key
    for options in ({"mac_key": b"short"}, {"mac_key": MAC_KEY}, {"mac_key": MAC_KEY.encode(), "verify": False},
                    {"mac_key": MAC_KEY.encode(), "mac_key_env": "CACHE_KEY"}):  # fmt: skip
        with pytest.raises(InputError) as raised:
            open_store(url, **options)
        assert MAC_KEY not in str(raised.value)
    assert layers(open_store("memory:", mac_key=MAC_KEY.encode())) == ["Verified", "MemoryStore"]


def test_caps_and_what_is_evicted(tmp_path: Path) -> None:
    for url in ("memory:?max_size=1K", f"file://{tmp_path}/x?max_size=1K", f"sqlite:///{tmp_path}/x.db?max_size=1K"):
        gone: list[str] = []
        store = open_store(url, verify=False, on_evict=lambda key, size, gone=gone: gone.append(key))
        assert innermost(store).max_size == 1024
        for key in "abc":
            store.put(key, bytes(500))
        assert gone == ["a"]
        if isinstance(store, SqliteStore):
            store.close()


def test_arguments_go_before_the_query() -> None:
    store = innermost(open_store("redis://host?timeout=1&prefix=a:", timeout=2, retry_after=0))
    assert (store.timeout, store.prefix) == (2, "a:")


def test_the_variable_names_the_default_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORTCACHE_STORE", f"file://{tmp_path}/x?verify=0")
    assert innermost(open_store()).root == tmp_path / "x"
    assert layers(open_store(None, mode="w")) == ["WriteOnly", "DirectoryStore"]
    for unset in (lambda: monkeypatch.setenv("ORTCACHE_STORE", ""), lambda: monkeypatch.delenv("ORTCACHE_STORE")):
        unset()
        with pytest.raises(InputError, match="set ORTCACHE_STORE"):
            open_store()


def test_a_plan_touches_nothing_before_it_is_opened(tmp_path: Path) -> None:
    plan = plan_store(f"file://{tmp_path}/x?mode=r")
    assert (plan.mode, list(tmp_path.iterdir())) == ("r", [])
    with pytest.raises(StoreError, match=r"there is no store at .*/x.*, and mode=r makes none"):
        plan.open()
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "x").mkdir(mode=0o700)
    assert layers(plan.open()) == ["Verified", "ReadOnly", "DirectoryStore"]


def test_what_is_only_read_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="makes none"):
        open_store(f"sqlite:///{tmp_path}/none.db?mode=r")
    assert list(tmp_path.iterdir()) == []
    open_store(f"sqlite:///{tmp_path}/some.db").put("key", b"x")
    assert open_store(f"sqlite:///{tmp_path}/some.db?mode=r").get("key") == b"x"


def test_libraries_are_imported_when_a_store_needs_them(tmp_path: Path) -> None:
    told = run_python(
        """
        import sys
        from ortcache.stores.url import open_store
        open_store(sys.argv[1]), open_store("memory:")
        print(sorted({"redis", "obstore", "numpy", "ctypes", "asyncio", "sqlite3"} & set(sys.modules)))
        """,
        tmp_path / "x",
    )
    assert told == "[]\n"


@pytest.mark.parametrize(
    ("library", "url", "extra"), [("redis", "redis://h", "redis"), ("obstore", "s3://b", "objects")]
)
def test_without_the_library_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, library: str, url: str, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setitem(sys.modules, f"{library}.store", None)
    for make in (open_store, plan_store):
        with pytest.raises(StoreError, match=rf"pip install 'ortcache\[{extra}\]'"):
            make(url)


def test_after_a_failure_a_remote_one_is_tried_again(shared_redis: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    store = open_store(f"{shared_redis.url}?retry_after=0.1&prefix=again:")
    assert isinstance(store, Verified) and isinstance(store.inner, Guarded)
    assert store.inner._reading.retry_after == 0.1
