"""Several stores in order."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError, StoreError, StoreTimeoutError
from ortcache.stores import DirectoryStore, MemoryStore
from ortcache.stores.counted import Counted
from ortcache.stores.events import Event, EventKind
from ortcache.stores.guarded import Guarded
from ortcache.stores.protocol import list_entries
from ortcache.stores.readonly import ReadOnly, is_read_only
from ortcache.stores.tiered import Level, Tiered
from ortcache.stores.verified import Verified

from .conformance import Conformance
from .contents import contents
from .faulty import Faulty, Hanging


class TestTiered(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Tiered:
        return Tiered([Level(MemoryStore()), Level(DirectoryStore(tmp_path / "s"), timeout=60)])


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    store = Hanging()
    yield store
    store.go.set()


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_the_first_level_that_has_it_answers_and_those_above_get_it() -> None:
    top, middle, bottom = MemoryStore(), MemoryStore(), Faulty()
    store = Tiered([Level(top, "top"), Level(middle, "middle"), Level(bottom, "bottom")])
    bottom.put("key", b"value")
    asked = bottom.asked
    assert [store.get("key") for _ in range(3)] == [b"value"] * 3
    assert (contents(top), contents(middle)) == ({"key": b"value"}, {"key": b"value"})
    assert bottom.asked == asked + 1
    assert {name: (stats.hits, stats.misses, stats.stored) for name, stats in store.stats.items()} == {
        "top": (2, 1, 1),
        "middle": (0, 1, 1),
        "bottom": (1, 0, 0),
    }


def test_read_only_levels_are_read_and_never_written() -> None:
    shipped, marked, own = MemoryStore(), MemoryStore(), MemoryStore()
    shipped.put("shipped", b"1")
    own.put("own", b"2")
    store = Tiered([Level(ReadOnly(shipped)), Level(marked, read_only=True), Level(own)])
    store.put("new", b"3")
    assert [store.get(key) for key in ("shipped", "own", "new")] == [b"1", b"2", b"3"]
    assert store.delete("own") is True and store.delete("shipped") is False
    assert store.get("shipped") == b"1"  # it stays
    assert (contents(shipped), contents(marked), contents(own)) == ({"shipped": b"1"}, {}, {"new": b"3"})
    assert not is_read_only(store)


def test_where_every_level_is_read_only_it_is_too() -> None:
    inner = MemoryStore()
    inner.put("key", b"x")
    store = Tiered([Level(ReadOnly(inner)), Level(MemoryStore(), read_only=True)])
    assert is_read_only(store) and is_read_only(Verified(store))
    assert store.get("key") == b"x"
    for call in (store.delete, lambda key: store.put(key, b"y")):
        with pytest.raises(InputError, match="every level is read-only"):
            call("key")


def test_a_dead_level_degrades_with_one_warning_and_is_tried_again(caplog: pytest.LogCaptureFixture) -> None:
    memory, remote = MemoryStore(), Faulty(down=True)
    store = Tiered([Level(memory, "memory"), Level(remote, "remote", retry_after=0.2)])
    for number in range(20):
        assert store.get(f"key{number}") is None
        store.put(f"key{number}", b"x")
        assert store.get(f"key{number}") == b"x"
    assert remote.asked == 1
    assert len(warnings(caplog)) == 1 and "level 'remote' failed" in caplog.text
    remote.down = False
    time.sleep(0.25)
    store.put("later", b"y")
    assert contents(remote) == {"later": b"y"}
    assert len(warnings(caplog)) == 1
    assert store.stats["remote"].failed == 40


@pytest.mark.parametrize("guarded", [False, True])
def test_a_level_that_hangs_is_as_dead_and_warned_of_once(
    guarded: bool, hanging: Hanging, caplog: pytest.LogCaptureFixture
) -> None:
    below = MemoryStore()
    below.put("key", b"x")
    top = Verified(Guarded(hanging)) if guarded else hanging
    store = Tiered([Level(top, "remote", timeout=0.2, retry_after=600), Level(below, "disk")])
    start = time.monotonic()
    assert [store.get("key") for _ in range(50)] == [b"x"] * 50
    assert time.monotonic() - start < 5  # one wait, not fifty
    store.put("new", b"y")
    assert store.get("new") == b"y"
    assert hanging.asked == 1
    assert warnings(caplog) == [
        "level 'remote' failed, and is tried again in 600 s: level 'remote' did not answer within 0.2 s"
    ]


def test_a_level_that_guards_itself_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    store = Tiered([Level(Guarded(Faulty(down=True)), "remote", timeout=60), Level(MemoryStore())])
    for _ in range(5):
        assert store.get("key") is None
    assert warnings(caplog) == ["the store failed, and is tried again in 5 s: connection refused"]


def test_a_miss_is_said_where_one_level_answered_and_a_failure_where_none_did() -> None:
    store = Tiered([Level(Faulty(down=True), "one"), Level(MemoryStore(), "two")])
    assert store.get("key") is None
    store = Tiered([Level(Faulty(down=True), "one"), Level(Faulty(down=True), "two")])
    for call in (
        store.get,
        store.delete,
        lambda key: store.put(key, b"x"),
        lambda _: list(store.keys()),
        lambda _: list(store.entries()),
    ):
        with pytest.raises(StoreError, match=r"level 'one': .*; level 'two': .*refused") as failure:
            call("key")
        assert isinstance(failure.value.__cause__, StoreError)
        assert not isinstance(failure.value, TimeoutError)


def test_where_none_answered_in_time_it_is_a_timeout(hanging: Hanging) -> None:
    store = Tiered([Level(hanging, timeout=0.05)])
    for _ in range(2):
        with pytest.raises(StoreTimeoutError):
            store.get("key")


def test_a_put_fails_only_where_no_level_took_it() -> None:
    dead, small, large = Faulty(down=True), MemoryStore(max_size=3), MemoryStore()
    store = Tiered([Level(dead), Level(small), Level(large)])
    store.put("key", b"1234")
    assert (contents(small), contents(large)) == ({}, {"key": b"1234"})
    with pytest.raises(InputError, match=r"level 'a': .*; level 'b': "):
        Tiered([Level(small, "a"), Level(small, "b")]).put("key", b"1234")
    with pytest.raises(StoreError):
        Tiered([Level(small, "a"), Level(dead, "b")]).put("key", b"1234")


def test_a_level_that_refuses_the_new_value_does_not_give_the_old_one() -> None:
    small = MemoryStore(max_size=3)
    store = Tiered([Level(small), Level(MemoryStore())])
    store.put("key", b"old")
    store.put("key", b"longer")
    assert store.get("key") == b"longer"


def test_a_value_that_a_level_above_does_not_take_is_read_all_the_same() -> None:
    small, large = MemoryStore(max_size=3), MemoryStore()
    large.put("key", b"1234")
    store = Tiered([Level(small), Level(large)])
    assert [store.get("key"), store.get("key")] == [b"1234"] * 2


def test_a_delete_reaches_every_level_and_says_where_it_does_not() -> None:
    top, bottom = MemoryStore(), Faulty()
    store = Tiered([Level(top, "top"), Level(bottom, "bottom")])
    store.put("key", b"x")
    assert store.delete("key") is True
    assert (contents(top), contents(bottom), store.delete("key")) == ({}, {}, False)
    store.put("key", b"x")
    bottom.down = True
    with pytest.raises(StoreError, match=r"level 'bottom': connection refused"):
        store.delete("key")
    assert contents(top) == {}


def test_keys_and_entries_are_the_union_and_the_first_level_is_believed() -> None:
    top, bottom = MemoryStore(), MemoryStore()
    top.put("both", b"12")
    bottom.put("both", b"123")
    bottom.put("below", b"1234")
    dead = Faulty(down=True)
    store = Tiered([Level(top), Level(dead), Level(bottom, timeout=60)])
    assert sorted(store.keys()) == ["below", "both"]
    assert sorted((entry.key, entry.size) for entry in list_entries(store)) == [("below", 4), ("both", 2)]


def test_events_have_the_levels_name_and_a_build_is_told_once() -> None:
    heard: list[Event] = []
    top = MemoryStore(max_size=4)
    store = Counted(Tiered([Level(top, "memory"), Level(MemoryStore(), "disk")], hook=heard.append), heard.append)
    store.get("a")
    store.put("a", b"123")
    assert [(event.kind, event.level) for event in heard] == [
        (EventKind.MISS, "memory"),
        (EventKind.MISS, "disk"),
        (EventKind.MISS, None),
        (EventKind.BUILD, None),
        (EventKind.STORED, "memory"),
        (EventKind.STORED, "disk"),
        (EventKind.STORED, None),
    ]
    heard.clear()
    store.put("b", b"123")
    assert [(event.key, event.level) for event in heard if event.kind is EventKind.EVICTED] == [
        ("a", None),
        ("a", "memory"),
    ]


@pytest.mark.parametrize(
    ("levels", "said"),
    [
        ([], "needs a level"),
        ([Level(MemoryStore(), "a"), Level(MemoryStore(), "a")], "two levels have the name 'a'"),
        ([Level(MemoryStore()), Level(MemoryStore(), "1")], "two levels have the name '1'"),
        ([Level(MemoryStore(), timeout=0)], "timeout"),
        ([Level(MemoryStore(), retry_after=-1)], "retry_after"),
    ],
)
def test_levels_that_cannot_be_are_refused(levels: list[Level], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Tiered(levels)


def test_every_level_is_closed_also_where_one_cannot_be() -> None:
    closed: list[Any] = []

    class Closing(MemoryStore):
        def close(self) -> None:
            closed.append(self)
            if len(closed) == 1:
                raise StoreError("stuck")

    with pytest.raises(StoreError, match="stuck"):
        with Tiered([Level(Closing()), Level(Closing(), timeout=60)]) as store:
            store.put("key", b"x")
    assert len(closed) == 2
