"""The one entry of a directory."""

from __future__ import annotations

from ortcache.bridge.entry import StoredDirectory
from ortcache.scope import Scope
from ortcache.stores import MemoryStore


def test_at_a_cap_no_good_entry_makes_room_for_one_that_is_moved_aside() -> None:
    store = MemoryStore(max_size=5000)
    entry = StoredDirectory(store, Scope.of(model_digest="m"), "name", writable=True, strict=True)
    store.put("good", bytes(2000))
    entry.save(bytearray(b"no pack" * 300))
    assert entry.load() is None
    assert entry.quarantined == 1
    assert store.get("good") == bytes(2000)
    assert [key for key in store.keys() if ".unusable.name" in key]  # noqa: SIM118 - a store is no mapping
