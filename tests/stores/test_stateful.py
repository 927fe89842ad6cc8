"""Any order of operations, through any pile of stores: what comes back is what a dict would give."""

from __future__ import annotations

import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from ortcache.errors import InputError
from ortcache.keys import MAX_LENGTH
from ortcache.scope import Scope
from ortcache.stores import (
    Counted,
    DirectoryStore,
    Level,
    MemoryStore,
    Namespaced,
    SqliteStore,
    Store,
    Tiered,
    Verified,
)
from ortcache.stores.protocol import close_store, list_entries

KEYS = st.sampled_from(
    ["a", "A", "aB", "Ab", "con-", "x" * MAX_LENGTH, "X" * MAX_LENGTH, "y" * 150, f"{'Z' * 99}.{'z' * 100}"]
)
VALUES = st.builds(lambda letter, size: letter * size, st.binary(min_size=1, max_size=1), st.integers(0, 60))

#: What stands over a store, by a name.
OVER: dict[str, Callable[[Store], Any]] = {
    "verified": Verified,
    "mac": lambda store: Verified(store, mac_key=b"k" * 16),
    "short": lambda store: Namespaced(store, "ns"),
    "long": lambda store: Namespaced(store, "p" * 100),
    "scope": lambda store: Scope.of(model_digest="m").over(store),
    "counted": Counted,
    "tiered": lambda store: Tiered([Level(MemoryStore(max_size=100)), Level(store)]),
}


class Machine(RuleBasedStateMachine):
    """A store in a folder of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.opened: list[Store] = []

    def open(self, kind: str, **how: Any) -> Store:
        made: dict[str, Callable[[], Store]] = {
            "memory": lambda: MemoryStore(**how),
            "directory": lambda: DirectoryStore(self.folder / "d", **how),
            "sqlite": lambda: SqliteStore(self.folder / "s.db", **how),
        }
        self.opened.append(made[kind]())
        return self.opened[-1]

    def teardown(self) -> None:
        for store in self.opened:
            close_store(store)
        shutil.rmtree(self.folder)


class AnyPile(Machine):
    """Two who use one store, through the same pile, beside somebody else's namespace."""

    @initialize(
        kind=st.sampled_from(["memory", "directory", "sqlite"]), pile=st.lists(st.sampled_from(list(OVER)), max_size=4)
    )
    def start(self, kind: str, pile: list[str]) -> None:
        self.held: dict[str, bytes] = {}
        first = self.open(kind)
        # A tiered store knows nothing of what others put: then there is one who uses it.
        both = [first] if "tiered" in pile else [first, first if kind == "memory" else self.open(kind)]
        for name in pile:
            both = [OVER[name](store) for store in both]
        self.both = both[0], both[-1]
        self.beside = Namespaced(first, "beside") if {"short", "long", "scope"} & set(pile) else None
        if self.beside is not None:
            self.beside.put("a", b"somebody else's")

    @rule(who=st.integers(0, 1), key=KEYS, value=VALUES)
    def put(self, who: int, key: str, value: bytes) -> None:
        self.both[who].put(key, memoryview(value))
        self.held[key] = value

    @rule(who=st.integers(0, 1), key=KEYS)
    def get(self, who: int, key: str) -> None:
        assert self.both[who].get(key) == self.held.get(key)

    @rule(who=st.integers(0, 1), key=KEYS)
    def delete(self, who: int, key: str) -> None:
        assert self.both[who].delete(key) == (self.held.pop(key, None) is not None)

    @rule(who=st.integers(0, 1))
    def listing(self, who: int) -> None:
        assert sorted(self.both[who].keys()) == sorted(self.held)
        sizes = {entry.key: entry.size for entry in list_entries(self.both[who])}
        assert sizes == {key: len(value) for key, value in self.held.items()}
        if self.beside is not None:
            assert self.beside.get("a") == b"somebody else's"


class AtTheCap(Machine):
    """One who uses a store with a cap: what makes room, and in which order, is as it says."""

    @initialize(kind=st.sampled_from(["memory", "directory", "sqlite"]), cap=st.integers(1, 150))
    def start(self, kind: str, cap: int) -> None:
        self.cap = cap
        self.told: list[tuple[str, int]] = []
        self.held: OrderedDict[str, bytes] = OrderedDict()
        self.store = self.open(kind, max_size=cap, on_evict=lambda key, size: self.told.append((key, size)))

    @rule(key=KEYS, value=VALUES)
    def put(self, key: str, value: bytes) -> None:
        self.told.clear()
        if len(value) > self.cap:
            with pytest.raises(InputError):
                self.store.put(key, value)
            return
        self.store.put(key, value)
        self.held.pop(key, None)
        gone = []
        while sum(map(len, self.held.values())) + len(value) > self.cap:
            oldest, old = self.held.popitem(last=False)
            gone.append((oldest, len(old)))
        self.held[key] = value
        assert self.told == gone

    @rule(key=KEYS)
    def get(self, key: str) -> None:
        assert self.store.get(key) == self.held.get(key)
        if key in self.held:
            self.held.move_to_end(key)

    @rule(key=KEYS)
    def delete(self, key: str) -> None:
        assert self.store.delete(key) == (self.held.pop(key, None) is not None)

    @invariant()
    def listing(self) -> None:
        if self.opened:
            sizes = {entry.key: entry.size for entry in list_entries(self.store)}
            assert sizes == {key: len(value) for key, value in self.held.items()}


@pytest.mark.parametrize("machine", [AnyPile, AtTheCap])
def test_any_order_of_operations(machine: type[Machine]) -> None:
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large]
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        machine,
        settings=settings(max_examples=200, stateful_step_count=50, deadline=None, suppress_health_check=checks),
    )
