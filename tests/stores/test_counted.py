"""The store that counts and tells."""

from __future__ import annotations

import gc
import logging
import sys
import time
import weakref
from pathlib import Path

import pytest

from ortcache.errors import InputError, StoreError
from ortcache.stores import DirectoryStore, MemoryStore
from ortcache.stores.counted import Counted, StoreStats
from ortcache.stores.events import Event, EventKind
from ortcache.stores.namespaced import Namespaced
from ortcache.stores.verified import Verified

from .conformance import Conformance, run_together
from .faulty import Faulty


class TestCounted(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self) -> Counted:
        return Counted(MemoryStore(), [].append)


class Heard(list[Event]):
    """A hook that keeps what it is told."""

    def __call__(self, event: Event) -> None:
        self.append(event)

    @property
    def kinds(self) -> list[EventKind]:
        return [event.kind for event in self]


@pytest.fixture
def heard() -> Heard:
    return Heard()


def counts(store: Counted) -> dict[str, int | float]:
    """Those that are not 0, and no time."""
    return {name: value for name, value in store.stats.as_dict().items() if value and name != "seconds"}


def test_a_build_is_told_before_anybody_knows_of_the_miss(heard: Heard) -> None:
    store = Counted(MemoryStore(), heard)
    assert store.get("key") is None
    assert heard.kinds == [EventKind.MISS, EventKind.BUILD]
    time.sleep(0.05)
    store.put("key", b"engine")
    assert store.get("key") == b"engine"
    assert heard.kinds == [EventKind.MISS, EventKind.BUILD, EventKind.STORED, EventKind.HIT]
    stored, hit = heard[2:]
    assert (stored.key, stored.size, stored.level, stored.error) == ("key", 6, None, None)
    assert stored.build_seconds is not None and stored.build_seconds >= 0.05
    assert stored.seconds is not None and stored.seconds >= 0
    assert (hit.key, hit.size, hit.build_seconds) == ("key", 6, None)
    assert counts(store) == {"hits": 1, "misses": 1, "stored": 1, "bytes_read": 6, "bytes_written": 6}
    assert store.stats.seconds > 0


def test_the_log_says_that_a_build_starts(caplog: pytest.LogCaptureFixture) -> None:
    store = Counted(MemoryStore())
    with caplog.at_level(logging.INFO, "ortcache.stores"):
        store.get("key")
        store.put("key", b"x")
        store.get("key")
    assert [record.getMessage() for record in caplog.records] == [
        "there is no entry 'key': a build starts now, and may take minutes"
    ]


def test_what_was_not_missed_has_no_build_time(heard: Heard) -> None:
    store = Counted(MemoryStore(), heard)
    store.put("key", b"1")
    store.get("other")
    store.put("key", b"2")
    assert [event.build_seconds for event in heard if event.kind is EventKind.STORED] == [None, None]


def test_a_hit_after_a_miss_ends_the_build(heard: Heard) -> None:
    inner = MemoryStore()
    store = Counted(inner, heard)
    store.get("key")
    inner.put("key", b"another process's")
    store.get("key")
    store.put("key", b"x")
    assert heard[-1].build_seconds is None


def test_a_level_starts_no_build(heard: Heard, caplog: pytest.LogCaptureFixture) -> None:
    store = Counted(MemoryStore(), heard, level="memory")
    with caplog.at_level(logging.INFO, "ortcache.stores"):
        store.get("key")
    store.put("key", b"x")
    assert [(event.kind, event.level) for event in heard] == [(EventKind.MISS, "memory"), (EventKind.STORED, "memory")]
    assert caplog.records == []


def test_failures_are_told_counted_and_raised(heard: Heard) -> None:
    store = Counted(Faulty(down=True), heard)
    for call in (store.get, store.delete, lambda key: store.put(key, b"x")):
        with pytest.raises(StoreError, match="connection refused"):
            call("key")
    assert [(event.kind, event.error) for event in heard] == [(EventKind.FAILED, "StoreError: connection refused")] * 3
    assert counts(store) == {"failed": 3}


def test_a_value_above_the_cap_failed(heard: Heard) -> None:
    store = Counted(MemoryStore(max_size=3), heard)
    with pytest.raises(InputError):
        store.put("key", b"1234")
    assert heard.kinds == [EventKind.FAILED]


def test_what_makes_room_is_told_with_its_size(heard: Heard) -> None:
    store = Counted(MemoryStore(max_size=10), heard)
    for key in ("a", "b", "c"):
        store.put(key, b"1234")
    assert [(event.key, event.size) for event in heard if event.kind is EventKind.EVICTED] == [("a", 4)]
    assert counts(store) == {"stored": 3, "evicted": 1, "bytes_written": 12}


def test_the_store_that_has_the_cap_may_be_far_below(tmp_path: Path, heard: Heard) -> None:
    inner = DirectoryStore(tmp_path / "s", max_size=200)
    store = Counted(Namespaced(Verified(inner), "n"), heard)
    for key in ("a", "b"):
        store.put(key, bytes(100))
    assert [(event.key, event.size) for event in heard if event.kind is EventKind.EVICTED] == [("n.a", 164)]


def test_several_are_told_and_whoever_was_there_before() -> None:
    told: list[tuple[str, int]] = []
    inner = MemoryStore(max_size=4, on_evict=lambda key, size: told.append((key, size)))
    one, other = Counted(inner), Counted(inner)
    for key in ("a", "b"):
        one.put(key, b"123")
    assert told == [("a", 3)]
    assert (one.stats.evicted, other.stats.evicted) == (1, 1)


def test_a_store_does_not_keep_those_alive_that_counted_it() -> None:
    inner = MemoryStore(max_size=4)
    for _ in range(20):
        reference = weakref.ref(Counted(inner))
        gc.collect()
        assert reference() is None
    last = Counted(inner)
    assert len(inner.on_evict._listeners) == 1  # type: ignore[union-attr]
    inner.put("a", b"123")
    inner.put("b", b"123")
    assert last.stats.evicted == 1


def test_a_hook_that_raises_is_logged_and_goes_no_further(caplog: pytest.LogCaptureFixture) -> None:
    def hook(event: Event) -> None:
        raise RuntimeError("a bug of the user's")

    store = Counted(MemoryStore(max_size=4), hook)
    with caplog.at_level(logging.WARNING, "ortcache.stores"):
        for number in range(50):
            assert store.get(f"{number}") is None
            store.put(f"{number}", b"123")
            assert store.get(f"{number}") == b"123"
    assert counts(store)["hits"] == 50
    assert len(caplog.records) == 5
    assert "a hook failed at 'miss': RuntimeError: a bug of the user's" in caplog.text
    assert "not logged" in caplog.records[-1].getMessage()


def test_memory_for_builds_that_never_end_is_bounded() -> None:
    store = Counted(MemoryStore())
    for number in range(5000):
        store.get(f"key{number}")
    assert len(store._missed) == 1024
    assert store._missed.keys() == {f"key{number}" for number in range(5000 - 1024, 5000)}
    assert sys.getsizeof(store._missed) < 1 << 20


def test_threads_lose_no_count(heard: Heard) -> None:
    store = Counted(MemoryStore(), heard)

    def work(number: int) -> None:
        for turn in range(200):
            store.get(f"{number}-{turn}")
            store.put(f"{number}-{turn}", b"12")
            store.get(f"{number}-{turn}")

    run_together([lambda number=number: work(number) for number in range(6)])  # type: ignore[misc]
    assert counts(store) == {"hits": 1200, "misses": 1200, "stored": 1200, "bytes_read": 2400, "bytes_written": 2400}
    assert len(heard) == 4800
    assert all(event.build_seconds is not None for event in heard if event.kind is EventKind.STORED)


def test_stats_are_a_snapshot() -> None:
    store = Counted(MemoryStore())
    before = store.stats
    store.get("key")
    assert before == StoreStats()
    assert list(before.as_dict()) == [
        "hits", "misses", "stored", "evicted", "failed", "bytes_read", "bytes_written", "seconds",
    ]  # fmt: skip
