"""The store that nobody writes to."""

from __future__ import annotations

from typing import Any

import pytest

from ortcache.errors import InputError, StoreError
from ortcache.stores import MemoryStore, Store
from ortcache.stores.namespaced import Namespaced
from ortcache.stores.readonly import ReadOnly, is_read_only
from ortcache.stores.verified import Verified

from .conformance import UNSAFE_KEYS
from .contents import contents


@pytest.fixture
def inner() -> MemoryStore:
    store = MemoryStore()
    store.put("key", b"value")
    return store


def test_it_reads_and_lists_what_is_there(inner: MemoryStore) -> None:
    store = ReadOnly(inner)
    assert isinstance(store, Store)
    assert (store.get("key"), store.get("other")) == (b"value", None)
    inner.put("other", b"later")
    assert store.get("other") == b"later"
    assert sorted(store.keys()) == ["key", "other"]
    assert list(store.entries()) == list(inner.entries()) and [entry.size for entry in store.entries()] == [5, 5]


def test_it_refuses_to_write_and_to_delete_and_changes_nothing(inner: MemoryStore) -> None:
    store = ReadOnly(inner)
    for call in (lambda: store.put("key", b"new"), lambda: store.put("more", b"x"), lambda: store.delete("key")):
        with pytest.raises(InputError, match="opened read-only") as refusal:
            call()
        assert not isinstance(refusal.value, StoreError)  # the backend is well
    assert contents(inner) == {"key": b"value"}


@pytest.mark.parametrize("key", UNSAFE_KEYS, ids=ascii)
def test_an_unsafe_key_is_called_unsafe(inner: MemoryStore, key: str) -> None:
    store = ReadOnly(inner)
    for call in (store.get, store.delete, lambda k: store.put(k, b"x")):
        with pytest.raises(InputError, match="is not safe"):
            call(key)


@pytest.mark.parametrize("value", [None, 3, "text"])
def test_what_is_no_buffer_is_a_type_error_as_in_every_store(inner: MemoryStore, value: Any) -> None:
    with pytest.raises(TypeError):
        ReadOnly(inner).put("key", value)


def test_whoever_writes_can_ask_first(inner: MemoryStore) -> None:
    assert not is_read_only(inner)
    assert not is_read_only(Verified(inner))
    assert is_read_only(ReadOnly(inner))
    assert is_read_only(Namespaced(Verified(ReadOnly(inner)), "n"))


def test_it_closes_what_it_stands_over() -> None:
    closed = []

    class Closing(MemoryStore):
        def close(self) -> None:
            closed.append(True)

    with ReadOnly(Closing()) as store:
        assert store.get("key") is None
    assert closed == [True]
