"""The store in memory."""

from __future__ import annotations

import os
import sys

import pytest

from ortcache.stores import MemoryStore

from ..support.oracles import need
from .conformance import Conformance


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


class TestMemoryStore(Conformance):
    """What every store must do."""


def test_two_stores_share_nothing(store: MemoryStore) -> None:
    store.put("key", b"x")
    assert MemoryStore().get("key") is None


def test_a_value_is_handed_out_without_a_copy(store: MemoryStore) -> None:
    store.put("key", b"x" * 1000)
    assert store.get("key") is store.get("key")


def test_a_forked_child_has_a_copy_of_its_own(store: MemoryStore) -> None:
    need("linux", sys.platform == "linux")
    store.put("key", b"before")
    child = os.fork()
    if child == 0:
        store.put("key", b"the child's")
        os._exit(0 if store.get("key") == b"the child's" else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert store.get("key") == b"before"


def test_repr_does_not_tell_the_values(store: MemoryStore) -> None:
    store.put("key", b"secret")
    assert repr(store) == "MemoryStore(1 values)"
