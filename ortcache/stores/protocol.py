"""What every store can do, and what some can do more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

__all__ = [
    "Buffer",
    "Entry",
    "ListingStore",
    "Store",
    "check_store",
    "close_store",
    "get_view",
    "layers",
    "list_entries",
]

#: What `Store.put` takes. A memoryview may be valid during the call only.
Buffer = bytes | bytearray | memoryview


@runtime_checkable
class Store(Protocol):
    """Whole values under safe keys. Any number of threads may call it at once.

    Every method refuses an unsafe key with InputError, and raises what its backend raises when that fails: a miss is
    None, and nothing else.
    """

    def get(self, key: str) -> bytes | None:
        """The value, or None where there is none."""

    def put(self, key: str, value: Buffer) -> None:
        """Store the value, in place of one that is there."""

    def delete(self, key: str) -> bool:
        """Remove the value; was there one?"""

    def keys(self) -> Iterator[str]:
        """The keys of all values, in no order. One that comes or goes meanwhile may or may not be among them."""


@dataclass(frozen=True)
class Entry:
    """What a store knows of a value without reading it.

    Attributes:
        key: its key.
        size: bytes of the value.
        used: Unix time in seconds of its last use, as finely as the store keeps it; None where it keeps none.
    """

    key: str
    size: int
    used: float | None = None


@runtime_checkable
class ListingStore(Protocol):
    """A store that lists sizes and times without reading values."""

    def entries(self) -> Iterator[Entry]:
        """An `Entry` for each value, in no order."""


def check_store(store: object, what: str) -> None:
    """Refuse what is no store, such as a URL of one.

    Args:
        what: what needs one, for the message.

    Raises:
        TypeError: it has no ``get`` and ``put``.
    """
    if isinstance(store, type) or not all(callable(getattr(store, name, None)) for name in ("get", "put")):
        given = "the class itself" if isinstance(store, type) else type(store).__name__
        raise TypeError(f"{what} needs a store, not {given}: open_store makes one of a URL or a path")


def layers(store: object) -> Iterator[object]:
    """The store and those that it stands over, one below the other."""
    while store is not None:
        yield store
        store = getattr(store, "inner", None)


def list_entries(store: Store) -> Iterator[Entry]:
    """The entries of any store; where it cannot list sizes, each value is read for its own."""
    if isinstance(store, ListingStore):
        yield from store.entries()
        return
    for key in store.keys():  # noqa: SIM118 - a store is no mapping
        value = store.get(key)
        if value is not None:
            yield Entry(key, len(value))


def get_view(store: Store, key: str) -> memoryview | None:
    """What ``get`` gives, without a copy where the store knows how (``get_view``): for large values."""
    function = getattr(store, "get_view", None)
    if callable(function):
        view: memoryview | None = function(key)
        return view
    value = store.get(key)
    return None if value is None else memoryview(value)


def close_store(store: object) -> None:
    """Release what a store holds (connections, files), where it holds any."""
    close = getattr(store, "close", None)
    if callable(close):
        close()
