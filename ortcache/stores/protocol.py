"""What every store can do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

__all__ = ["Buffer", "Store"]

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
