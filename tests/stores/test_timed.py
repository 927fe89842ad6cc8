"""The store that is given up when it does not answer in time."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from ortcache.errors import InputError, StoreError, StoreTimeoutError
from ortcache.stores import MemoryStore
from ortcache.stores.breaker import Breaker
from ortcache.stores.timed import Timed

from ..support.oracles import need
from ..support.process import run_python
from .conformance import Conformance, run_together
from .faulty import Faulty, Hanging


class TestTimed(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self) -> Timed:
        return Timed(MemoryStore(), 60)


def wait_for(condition: object) -> None:
    assert callable(condition)
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def time_out(store: Timed) -> None:
    with pytest.raises(StoreTimeoutError):
        store.get("key")


def test_a_call_that_hangs_is_given_up_in_time() -> None:
    inner = Hanging()
    store = Timed(inner, 0.2, name="level 'remote'")
    calls = (
        store.get,
        store.delete,
        lambda key: store.put(key, b"x"),
        lambda _: store.keys(),
        lambda _: store.entries(),
    )
    for call in calls:
        start = time.monotonic()
        with pytest.raises(StoreTimeoutError, match=r"level 'remote' did not answer within 0\.2 s"):
            call("key")
        assert 0.2 <= time.monotonic() - start < 5
    inner.go.set()
    wait_for(lambda: inner.finished == 5)
    assert store.get("other") is None  # it answers again


def test_what_the_store_raises_comes_through() -> None:
    with pytest.raises(StoreError, match="connection refused"):
        Timed(Faulty(down=True), 60).get("key")


def test_the_value_of_a_put_that_was_given_up_is_a_copy() -> None:
    inner = Hanging()
    value = bytearray(b"before")
    with pytest.raises(StoreTimeoutError):
        Timed(inner, 0.05).put("key", memoryview(value))
    value[:] = b"after!"
    value.extend(b" and longer")  # nobody looks at it any more
    inner.go.set()
    wait_for(lambda: MemoryStore.get(inner, "key") == b"before")  # it came late


def test_hanging_calls_do_not_pile_up() -> None:
    inner = Hanging()
    store = Timed(inner, 0.05)
    before = threading.active_count()
    for _ in range(3):
        run_together([lambda: time_out(store)] * 10)
    assert threading.active_count() - before == inner.asked == 16
    inner.go.set()
    wait_for(lambda: threading.active_count() == before)
    assert store.get("key") is None


def test_a_breaker_refuses_calls_after_one_that_hung_and_only_then() -> None:
    inner = Hanging()
    inner.go.set()
    store = Timed(inner, 0.1, breaker=Breaker(60, name="x"))
    inner.down = True
    for _ in range(3):
        with pytest.raises(StoreError, match="connection refused"):
            store.get("key")
    inner.down = False
    inner.go.clear()
    for _ in range(3):
        with pytest.raises(StoreTimeoutError):
            store.get("key")
    assert inner.asked == 4
    inner.go.set()


def test_it_closes_also_what_hung_before() -> None:
    closed = threading.Event()

    class Closing(Hanging):
        def close(self) -> None:
            closed.set()

    inner = Closing()
    with Timed(inner, 0.1, breaker=Breaker(60)) as store:
        with pytest.raises(StoreTimeoutError):
            store.get("key")
    assert closed.is_set()
    inner.go.set()


def test_exit_does_not_wait_for_a_call_that_hangs() -> None:
    start = time.monotonic()
    printed = run_python(
        """
        import time
        from ortcache.errors import StoreTimeoutError
        from ortcache.stores import MemoryStore
        from ortcache.stores.timed import Timed
        class Hanging(MemoryStore):
            def get(self, key):
                time.sleep(600)
        try:
            Timed(Hanging(), 0.1).get("key")
        except StoreTimeoutError:
            print("given up")
        """
    )
    assert printed == "given up\n"
    assert time.monotonic() - start < 60


def test_a_forked_child_has_all_its_slots() -> None:
    need("linux", sys.platform == "linux")
    run_python(
        """
        import os
        from ortcache.stores import MemoryStore
        from ortcache.stores.timed import Timed
        store = Timed(MemoryStore(), 20)
        slots = store._free[1]
        while slots.acquire(blocking=False):
            pass  # all are in use when the process is copied
        child = os.fork()
        if child == 0:
            os._exit(0 if [store.get("key") for _ in range(20)] == [None] * 20 else 1)
        assert os.waitpid(child, 0)[1] == 0
        """
    )


@pytest.mark.parametrize("timeout", [0, -1, float("nan"), float("inf"), "x", None, True])
def test_a_timeout_is_seconds(timeout: object) -> None:
    with pytest.raises(InputError, match="timeout is a number of seconds above 0"):
        Timed(MemoryStore(), timeout)  # type: ignore[arg-type]
