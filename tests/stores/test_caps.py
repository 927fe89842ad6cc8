"""A cap, on every local store: what was not used for longest makes room, and nothing else."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.stores import DirectoryStore, MemoryStore
from ortcache.stores.protocol import Store, list_entries
from ortcache.stores.sqlite import SqliteStore

from .conformance import run_together

Make = Callable[..., Any]


@contextlib.contextmanager
def maker(kind: str, folder: Path) -> Iterator[Make]:
    """A function that makes a store with the given options, where it can each time over the same data."""
    with contextlib.ExitStack() as opened:
        makers: dict[str, Make] = {
            "memory": MemoryStore,
            "directory": lambda **options: DirectoryStore(folder / "store", **options),
            "sqlite": lambda **options: opened.enter_context(SqliteStore(folder / "store.db", **options)),
        }
        yield makers[kind]


@pytest.fixture(params=["memory", "directory", "sqlite"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with maker(request.param, tmp_path) as make:
        yield make


@pytest.fixture(params=["directory", "sqlite"])
def lasting(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    with maker(request.param, tmp_path) as make:
        yield make


def total(store: Store) -> int:
    return sum(entry.size for entry in list_entries(store))


def test_the_one_that_was_not_used_for_longest_makes_room(make: Make) -> None:
    store = make(max_size=300)
    for key in "abc":
        store.put(key, key.encode() * 100)
    assert sorted(store.keys()) == ["a", "b", "c"]  # it may be full to the last byte
    store.get("a")
    store.put("d", b"d" * 100)
    assert sorted(store.keys()) == ["a", "c", "d"]
    store.put("c", b"C" * 100)
    store.put("e", b"e" * 100)
    assert sorted(store.keys()) == ["c", "d", "e"]
    store.put("f", b"f")
    assert sorted(store.keys()) == ["c", "e", "f"]
    assert (store.get("c"), store.get("d")) == (b"C" * 100, None)


def test_it_does_what_a_list_in_order_of_use_does(make: Make) -> None:
    store, model, rng = make(max_size=1000), OrderedDict[str, bytes](), random.Random(5)
    for turn in range(600):
        key = f"k{rng.randrange(20)}"
        step = rng.random()
        if step < 0.5:
            value = bytes([turn % 256]) * rng.choice([0, 1, 50, 100, 333, 700])
            store.put(key, value)
            model.pop(key, None)
            while sum(map(len, model.values())) + len(value) > 1000:
                model.popitem(last=False)
            model[key] = value
        elif step < 0.95:
            assert store.get(key) == model.get(key), turn
            if key in model:
                model.move_to_end(key)
        else:
            assert store.delete(key) is (model.pop(key, None) is not None)
        assert sorted(store.keys()) == sorted(model), turn
    assert total(store) == sum(map(len, model.values()))


def test_a_value_above_the_cap_is_refused_and_the_others_are_kept(make: Make) -> None:
    store = make(max_size="1k")
    store.put("a", b"a" * 1000)
    for key in ("a", "b"):
        with pytest.raises(InputError, match=r"has 1025 bytes, and the store holds at most 1024: raise max_size"):
            store.put(key, b"x" * 1025)
    with pytest.raises(InputError, match="has 1026 bytes"):
        store.put("b", memoryview(b"\0" * 1026).cast("H"))
    assert list(store.keys()) == ["a"]
    store.put("b", b"x" * 1024)
    assert list(store.keys()) == ["b"]


def test_a_value_that_grows_makes_others_go_and_not_itself(make: Make) -> None:
    store = make(max_size=300)
    for key in "abc":
        store.put(key, b"x" * 100)
    store.put("a", b"y" * 200)
    assert sorted(store.keys()) == ["a", "c"]
    store.put("a", b"z" * 300)
    assert list(store.keys()) == ["a"]
    store.put("a", b"")
    store.put("b", b"x" * 300)
    assert sorted(store.keys()) == ["a", "b"]  # an empty one takes no room


def test_who_is_told(make: Make) -> None:
    told: list[tuple[str, int]] = []
    store = make(max_size=10, on_evict=lambda key, size: told.append((key, size)))
    for key in "abc":
        store.put(key, b"x" * 4)
    assert told == [("a", 4)]
    store.put("b", b"x" * 5)  # replaced, not evicted
    store.delete("b")
    assert told == [("a", 4)]
    store.put("d", b"x" * 10)
    assert told == [("a", 4), ("c", 4)]
    later: list[str] = []

    def again(key: str, size: int) -> None:
        later.append(key)
        assert store.get("d") is None and store.get("e") == b"x"  # it may use the store

    store.on_evict = again
    store.put("e", b"x")
    assert later == ["d"]
    assert len(told) == 2


def test_a_size_that_is_none_is_refused(make: Make) -> None:
    for size in ("a lot", 0, -1, 2.5, "0K"):
        with pytest.raises(InputError, match="write a number of bytes"):
            make(max_size=size)
    assert make(max_size="1.5K").max_size == 1536
    assert make().max_size is None


def test_what_was_there_before_the_cap_makes_room_too(lasting: Make) -> None:
    before = lasting()
    for key in "abcde":
        before.put(key, b"x" * 100)
    store = lasting(max_size=300)
    assert len(list(store.keys())) == 5  # opening removes nothing
    store.put("f", b"x" * 100)
    assert len(list(store.keys())) == 3
    assert total(store) == 300


def test_threads_keep_the_cap_together(make: Make) -> None:
    store, told = make(max_size=5000), []
    store.on_evict = lambda key, size: told.append((key, size))

    def use(number: int) -> None:
        rng = random.Random(number)
        for turn in range(60):
            key = f"k{rng.randrange(30)}"
            value = store.get(key)
            assert value is None or value.count(value[:1]) == len(value)
            store.put(f"k{rng.randrange(30)}", bytes([number]) * rng.randrange(900))
            if turn % 10 == 0:
                store.delete(key)

    run_together([lambda number=number: use(number) for number in range(6)])  # type: ignore[misc]
    assert total(store) <= 5000
    assert told


def test_many_values_at_the_cap(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make(max_size=10_000 * 8)
    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", lambda file: None)  # a busy disk would take minutes
        for number in range(10_000):
            store.put(f"k{number}", b"12345678")
        start = time.perf_counter()
        for number in range(10_000, 10_200):
            store.put(f"k{number}", b"12345678")
        assert (time.perf_counter() - start) / 200 < 0.02
    keys = set(store.keys())
    assert keys == {f"k{number}" for number in range(200, 10_200)}
    with pytest.raises(InputError):
        store.put("large", bytes(80_001))
    assert set(store.keys()) == keys
