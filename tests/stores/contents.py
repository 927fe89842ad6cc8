"""What is in a store, and how to spoil it."""

from __future__ import annotations

from ortcache.stores import Store

__all__ = ["contents", "damage"]


def contents(store: Store) -> dict[str, bytes | None]:
    """Every key and value."""
    return {key: store.get(key) for key in list(store.keys())}


def damage(store: Store, key: str) -> None:
    """Flip the last bit of a stored value."""
    data = bytearray(store.get(key) or b"")
    data[-1] ^= 1
    store.put(key, data)
