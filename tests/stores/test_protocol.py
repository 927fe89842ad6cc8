"""What stands over a store refuses what is none, when it is made and not at the first get."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.scope import Scope
from ortcache.stores import Counted, Level, MemoryStore, Namespaced, ReadOnly, Tiered, Verified, WriteOnly
from ortcache.stores.guarded import Guarded
from ortcache.stores.timed import Timed

OVER: dict[str, Callable[[Any], object]] = {
    "Counted": Counted,
    "Guarded": Guarded,
    "Namespaced": lambda store: Namespaced(store, "prefix"),
    "ReadOnly": ReadOnly,
    "ScopedStore": lambda store: Scope.of(model_digest="m").over(store),
    "Timed": lambda store: Timed(store, 1.0),
    "Verified": Verified,
    "WriteOnly": WriteOnly,
    "level 'slow'": lambda store: Tiered([Level(MemoryStore()), Level(store, "slow")]),
}


@pytest.mark.parametrize("what", OVER)
@pytest.mark.parametrize(
    ("given", "said"),
    [("memory:", "not str"), (None, "not NoneType"), ({}, "not dict"), (MemoryStore, "not the class itself")],
)
def test_what_is_no_store_is_refused(what: str, given: Any, said: str) -> None:
    if what.startswith("level") and isinstance(given, str):  # there it is the URL of one
        OVER[what](given)
        return
    with pytest.raises(TypeError, match=f"{what} needs a store, {said}: open_store makes one"):
        OVER[what](given)


@pytest.mark.parametrize("given", [MemoryStore(), "memory:", None, (MemoryStore(), "name")])
def test_what_is_no_level_is_refused(given: Any) -> None:
    with pytest.raises(TypeError, match=f"made of Level.*not of {type(given).__name__}"):
        Tiered([given])


@pytest.mark.parametrize("seconds", ["5", None, -1, float("nan"), True])
def test_what_is_no_time_to_leave_a_store_alone_is_refused(seconds: Any) -> None:
    with pytest.raises(InputError, match="retry_after is seconds"):
        Tiered([Level(MemoryStore(), retry_after=seconds)])
