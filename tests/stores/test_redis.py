"""Stores in Redis, on a real server."""

from __future__ import annotations

import secrets
import sys
import time

import pytest

from ortcache.errors import StoreError
from ortcache.stores.redis import AT_ONCE, PIECE, RedisStore

from ..support.oracles import need
from ..support.process import start_python
from ..support.servers import Redis
from .conformance import run_together
from .sharing import Sharing

#: Bytes of a value that is not read at once.
LARGE = AT_ONCE * PIECE + 1


@pytest.fixture
def prefix() -> str:
    return f"test-{secrets.token_hex(4)}:"


@pytest.fixture
def store(shared_redis: Redis, prefix: str) -> RedisStore:
    return RedisStore(shared_redis.url, prefix=prefix, timeout=30)


class TestRedis(Sharing):
    """What every store must do."""

    get_copies = 1

    @pytest.fixture
    def opening(self, shared_redis: Redis, prefix: str) -> str:
        return (
            "from ortcache.stores.redis import RedisStore\n"
            f"store = RedisStore({shared_redis.url!r}, prefix={prefix!r}, timeout=30)"
        )


def names(store: RedisStore) -> list[str]:
    """What is in Redis below the store's prefix."""
    return sorted(name.decode().removeprefix(store.prefix) for name in store._redis.scan_iter(f"{store.prefix}*"))


@pytest.mark.parametrize("size", [PIECE - 1, PIECE, PIECE + 1, LARGE - 1, LARGE, 40 * PIECE + 17])
def test_a_value_around_the_size_of_a_piece(store: RedisStore, size: int) -> None:
    value = secrets.token_bytes(size)
    for _ in range(2):
        store.put("key", value)
        assert store.get("key") == value
    assert names(store) == ["v:key"]
    (entry,) = store.entries()
    assert (entry.key, entry.size) == ("key", size)
    assert entry.used is not None and abs(entry.used - time.time()) < 60
    store.put("key", b"small")  # nothing is left of the larger one
    assert store._redis.hlen(f"{store.prefix}v:key") == 4
    assert store.get("key") == b"small"


def test_nobody_ever_sees_parts_of_two_large_values(store: RedisStore) -> None:
    values = [bytes([letter]) * (4 * PIECE + letter) for letter in b"abcd"]
    problems: list[object] = []
    found = 0
    store.put("shared", values[0])

    def write(value: bytes) -> None:
        for _ in range(6):
            store.put("shared", value)

    def read() -> None:
        nonlocal found
        for _ in range(20):
            value = store.get("shared")
            found += value is not None
            if value is not None and value not in values:
                problems.append(value[:20])

    run_together([*(lambda value=value: write(value) for value in values), read, read])  # type: ignore[misc]
    assert problems == []
    assert found == 40  # one of this size is read at once
    assert store.get("shared") in values
    assert names(store) == ["v:shared"]


@pytest.mark.parametrize(("times", "wanted"), [(1, b"n"), (2, None)])
def test_a_value_that_changes_while_it_is_read_is_read_once_more(
    store: RedisStore, shared_redis: Redis, monkeypatch: pytest.MonkeyPatch, times: int, wanted: bytes | None
) -> None:
    other = RedisStore(shared_redis.url, prefix=store.prefix)
    store.put("key", b"o" * LARGE)
    hmget, changes = store._redis.hmget, []

    def watched(name: str, *fields: str) -> object:
        if fields == ("id", "16") and len(changes) < times:
            changes.append(fields)
            other.put("key", b"n" * LARGE)
        return hmget(name, *fields)

    monkeypatch.setattr(store._redis, "hmget", watched)
    assert store.get("key") == (wanted and wanted * LARGE)
    assert len(changes) == times


def test_one_that_is_deleted_while_it_is_read_is_a_miss(store: RedisStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.put("key", bytes(LARGE))
    hmget = store._redis.hmget

    def watched(name: str, *fields: str) -> object:
        if fields == ("id", "16"):
            store.delete("key")
        return hmget(name, *fields)

    monkeypatch.setattr(store._redis, "hmget", watched)
    assert store.get("key") is None


def test_what_a_writer_that_was_killed_leaves_goes_by_itself_and_is_no_value(
    store: RedisStore, shared_redis: Redis
) -> None:
    need("linux", sys.platform == "linux")
    store.put("key", b"x" * (2 * PIECE))
    writer = start_python(
        "import sys\n"
        "from ortcache.stores.redis import RedisStore\n"
        "store = RedisStore(sys.argv[1], prefix=sys.argv[2], timeout=10)\n"
        "print('begun', flush=True)\n"
        "while True:\n    store.put('key', b'y' * (300 << 20))",
        shared_redis.url,
        store.prefix,
    )
    try:
        assert writer.stdout is not None and writer.stdout.readline() == "begun\n"
        deadline = time.monotonic() + 30
        while len(names(store)) < 2:
            assert time.monotonic() < deadline
        writer.kill()
    finally:
        writer.kill()
        writer.communicate()
    left = [name for name in names(store) if name != "v:key"]
    assert len(left) == 1 and left[0].startswith("t:")
    assert 0 < store._redis.pttl(store.prefix + left[0]) <= 80_000
    assert list(store.keys()) == ["key"]
    assert store.get("key") == b"x" * (2 * PIECE)
    store._redis.delete(store.prefix + left[0])


def test_a_value_that_redis_forgot_while_it_was_written_is_not_stored(
    store: RedisStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("key", b"before")
    hlen = store._redis.hlen

    def forgetful(name: str) -> object:
        store._redis.hdel(name, "id", "0", "size")
        return hlen(name)

    monkeypatch.setattr(store._redis, "hlen", forgetful)
    with pytest.raises(StoreError, match="dropped the value while it was written"):
        store.put("key", bytes(2 * PIECE))
    assert store.get("key") == b"before"
    assert names(store) == ["v:key"]


def test_values_live_for_the_ttl_or_for_ever(store: RedisStore, shared_redis: Redis) -> None:
    short = RedisStore(shared_redis.url, prefix=store.prefix, ttl=0.3)
    for size in (1, 2 * PIECE):
        short.put("key", bytes(size))
        assert 0 < store._redis.pttl(f"{store.prefix}v:key") <= 300
        time.sleep(0.35)
        assert short.get("key") is None
        assert list(short.keys()) == []
        store.put("key", bytes(size))
        assert store._redis.pttl(f"{store.prefix}v:key") == -1
        short.put("key", bytes(size))
        store.put("key", bytes(size))  # what had a ttl has none now
        assert store._redis.pttl(f"{store.prefix}v:key") == -1


def test_prefixes_and_databases_share_nothing(shared_redis: Redis, prefix: str) -> None:
    stores = [
        RedisStore(f"{shared_redis.url}/{db}", prefix=prefix + more) for db in (0, 1) for more in ("", "v:", "vv")
    ]
    for number, store in enumerate(stores):
        store.put("key", bytes([number]))
        store.put(f"own{number}", b"")
    for number, store in enumerate(stores):
        assert store.get("key") == bytes([number])
        assert sorted(store.keys()) == ["key", f"own{number}"]
        assert len(list(store.entries())) == 2


def test_a_listing_goes_over_many_pages(store: RedisStore) -> None:
    keys = {f"key{number}" for number in range(3500)}
    with store._redis.pipeline(transaction=False) as together:
        for key in keys:
            together.hset(f"{store.prefix}v:{key}", mapping={"id": "x", "size": 1, "put": 2, "0": "y"})
        together.execute()
    listed = list(store.keys())
    assert (set(listed), len(listed)) == (keys, 3500)
    assert {(entry.key, entry.size, entry.used) for entry in store.entries()} == {(key, 1, 2.0) for key in keys}
