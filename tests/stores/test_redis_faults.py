"""A Redis that is away, hangs, dies, refuses or is full: a StoreError that says what to do, and never a miss."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ortcache.errors import StoreError, StoreTimeoutError
from ortcache.stores.guarded import Guarded
from ortcache.stores.redis import PIECE, RedisStore

from ..support.faulty_servers import proxy, silent
from ..support.oracles import need
from ..support.servers import Redis, free_port, redis_server
from .timing import in_time, sixteen_threads_wait_no_longer_than_one


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Redis]:
    """A server of the test's own."""
    need("linux", sys.platform == "linux")
    with redis_server(tmp_path) as found:
        yield found


def every_call(store: RedisStore | Guarded) -> list[tuple[str, object]]:
    return [
        ("get", lambda: store.get("key")),
        ("put", lambda: store.put("key", b"x")),
        ("large put", lambda: store.put("key", bytes(PIECE + 1))),
        ("delete", lambda: store.delete("key")),
        ("keys", lambda: list(store.keys())),
        ("entries", lambda: list(store.entries())),
    ]


def test_one_that_is_down_is_an_error_of_every_call_and_of_no_making() -> None:
    store = RedisStore(f"redis://127.0.0.1:{free_port()}")
    for name, call in every_call(store):
        with pytest.raises(StoreError, match="Is it running, and are host and port right") as raised:
            call()  # type: ignore[operator]
        assert not isinstance(raised.value, TimeoutError), name
        assert type(raised.value.__cause__).__name__ == "ConnectionError"
    store.close()


def test_one_that_accepts_and_says_nothing_is_a_timeout() -> None:
    with silent() as port:
        store = RedisStore(f"redis://127.0.0.1:{port}", timeout=0.4)
        for name, call in every_call(store):
            with in_time(0.4, name), pytest.raises(StoreTimeoutError, match=r"no answer in 0\.4 s"):
                call()  # type: ignore[operator]
        store.close()


def test_one_that_is_stopped_is_a_timeout_and_works_when_it_goes_on(server: Redis) -> None:
    with RedisStore(server.url, timeout=0.4) as store:
        store.put("key", b"before")
        with server.hanging():
            for name, call in every_call(store):
                with in_time(0.4, name), pytest.raises(StoreTimeoutError):
                    call()  # type: ignore[operator]
        assert store.get("key") in (b"before", b"x")  # a put that nobody waited for may have arrived


def test_threads_wait_no_longer_than_one(server: Redis) -> None:
    with RedisStore(server.url, timeout=0.5) as store, server.hanging():
        sixteen_threads_wait_no_longer_than_one(store)


@pytest.mark.parametrize("size", [100, 20 * PIECE])
def test_one_that_is_killed_while_values_are_put_leaves_none_torn_and_is_used_again(server: Redis, size: int) -> None:
    errors: list[Exception] = []
    store = Guarded(RedisStore(server.url, timeout=5), retry_after=0.3)
    done = threading.Event()

    def put() -> None:
        turn = 0
        while not done.is_set():
            turn += 1
            try:
                store.put("key", bytes([turn % 251]) * size)
            except StoreError as error:
                errors.append(error)
                time.sleep(0.01)

    threads = [threading.Thread(target=put) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    server.kill()
    time.sleep(0.2)
    server.start()
    deadline = time.monotonic() + 30
    found = None
    while found is None and time.monotonic() < deadline:
        with contextlib.suppress(StoreError):
            found = store.get("key")
        time.sleep(0.02)
    done.set()
    for thread in threads:
        thread.join(60)
    assert errors
    assert found is not None
    assert (len(found), found.count(found[:1])) == (size, size)
    store.close()


@pytest.mark.parametrize("user", ["", "somebody:wrong@", ":wrong@"])
def test_a_wrong_password_is_told_and_not_shown(tmp_path: Path, user: str) -> None:
    with redis_server(tmp_path, "--requirepass", "the right one") as server:
        with RedisStore(f"redis://:the%20right%20one@127.0.0.1:{server.port}") as store:
            store.put("key", b"x")
            assert store.get("key") == b"x"
        with RedisStore(f"redis://{user}127.0.0.1:{server.port}") as store:
            for _, call in every_call(store):
                with pytest.raises(StoreError, match="Redis refuses the user or the password") as raised:
                    call()  # type: ignore[operator]
                assert ":wrong" not in str(raised.value) and ":wrong" not in repr(store)


def test_a_full_one_refuses_and_keeps_what_is_there(tmp_path: Path) -> None:
    with redis_server(tmp_path, "--maxmemory", "8mb") as server, RedisStore(server.url, timeout=10) as store:
        store.put("key", b"x" * 100_000)
        store.put("large", b"y" * (PIECE + 1))
        for key in ("key", "large"):
            for size in (PIECE, 9 * PIECE):
                with pytest.raises(StoreError, match="Its memory is full: raise maxmemory"):
                    for _ in range(20):
                        store.put(f"{key}-more-{_}", bytes(PIECE))
                    store.put(key, bytes(size))
        assert store.get("key") == b"x" * 100_000
        assert store.get("large") == b"y" * (PIECE + 1)
        assert not [name for name in store._redis.scan_iter("*") if b":t:" in name]  # nothing half-written


def test_one_that_evicts_evicts_whole_values(tmp_path: Path) -> None:
    arguments = ("--maxmemory", "16mb", "--maxmemory-policy", "allkeys-lru")
    with redis_server(tmp_path, *arguments) as server, RedisStore(server.url, timeout=10) as store:
        for number in range(12):
            with contextlib.suppress(StoreError):  # it may evict even what is being written
                store.put(f"key{number}", bytes([number]) * (3 * PIECE + 5))
        kept = {key: store.get(key) for key in store.keys()}  # noqa: SIM118
        assert 0 < len(kept) < 12
        for key, value in kept.items():
            assert value in (None, bytes([int(key[3:])]) * (3 * PIECE + 5))
        with pytest.raises(StoreError, match="memory is full"):
            store.put("large", bytes(30 * PIECE))
        assert store.get("large") is None


def test_a_replica_takes_no_writes_but_answers(server: Redis, tmp_path: Path) -> None:
    (tmp_path / "replica").mkdir()
    with (
        RedisStore(server.url) as store,
        redis_server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {server.port}") as other,
    ):
        store.put("key", b"x")
        replica = Guarded(RedisStore(other.url))
        deadline = time.monotonic() + 30
        found = None
        while found is None and time.monotonic() < deadline:
            with contextlib.suppress(StoreError):
                found = replica.inner.get("key")
            time.sleep(0.05)
        assert found == b"x"
        for _ in range(2):
            with pytest.raises(StoreError, match="This is a replica, which takes no writes"):
                replica.put("key", b"y")
            assert replica.get("key") == b"x"  # refused writes do not keep anybody from reading
        replica.close()


@pytest.mark.parametrize("cut_after", [0, 1, 50, 30_000, PIECE + 100, 3 * PIECE])
def test_a_connection_that_breaks_in_the_middle_is_an_error_and_no_half_value(server: Redis, cut_after: int) -> None:
    value = bytes(range(256)) * (5 * PIECE // 256)
    with RedisStore(server.url, timeout=10) as direct, proxy(server.port) as between:
        direct.put("key", value)
        with RedisStore(f"redis://127.0.0.1:{between.port}", timeout=10) as store:
            assert store.get("key") == value
            between.cut_after = cut_after
            for _ in range(3):
                with pytest.raises(StoreError, match="key"):
                    store.get("key")
            between.cut_after = None
            assert store.get("key") == value


def test_an_answer_that_stops_in_the_middle_is_a_timeout(server: Redis) -> None:
    with RedisStore(server.url, timeout=10) as direct, proxy(server.port) as between:
        direct.put("key", bytes(PIECE))
        between.stall_after = 100_000
        with RedisStore(f"redis://127.0.0.1:{between.port}", timeout=0.4) as store:
            with in_time(0.4, "get"), pytest.raises(StoreTimeoutError):
                store.get("key")


def test_somebody_elses_data_under_the_name_is_an_error(server: Redis) -> None:
    with RedisStore(server.url, prefix="mine:") as store:
        store._redis.set("mine:v:text", "hello")
        store._redis.hset("mine:v:hash", mapping={"size": 3})
        with pytest.raises(StoreError, match="use another prefix"):
            store.get("text")
        with pytest.raises(StoreError, match="use another prefix"):
            store.get("hash")
        assert [entry.key for entry in store.entries()] == []
        for key in ("text", "hash"):
            store.put(key, b"mine")
            assert store.get(key) == b"mine"


def test_a_forked_child_has_connections_of_its_own(server: Redis) -> None:
    with RedisStore(server.url, timeout=10) as store:
        store.put("key", b"x" * 1000)
        child = os.fork()
        if child == 0:
            good = all(store.get("key") == b"x" * 1000 for _ in range(200))
            store.put("child", b"was here")
            os._exit(0 if good else 1)
        assert all(store.get("key") == b"x" * 1000 for _ in range(200))
        assert os.waitpid(child, 0)[1] == 0
        assert store.get("child") == b"was here"
