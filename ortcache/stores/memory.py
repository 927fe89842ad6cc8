"""Values in this process's memory."""

from __future__ import annotations

import time
from collections.abc import Iterator

from ..keys import check_key
from .fork import ForkLock
from .ledger import Ledger, OnEvict, check_fits, parse_cap
from .protocol import Buffer, Entry

__all__ = ["MemoryStore"]


class MemoryStore:
    """A dict with a lock. A child process has a copy of its own after a fork.

    Args:
        max_size: bytes of all values together, as `parse_size` takes them; those not used for longest make room. None
            for no cap.
        on_evict: called with the key and the size of each value that made room.

    Raises:
        InputError: ``max_size`` is no size; and of `put`: the value is larger than that.

    Attributes:
        max_size: bytes, or None.
        on_evict: as it was given; may be set later.
    """

    def __init__(self, *, max_size: str | int | None = None, on_evict: OnEvict | None = None) -> None:
        self.max_size = parse_cap(max_size)
        self.on_evict = on_evict
        self._lock = ForkLock()
        self._values: dict[str, bytes] = {}
        self._ledger = Ledger()

    def get(self, key: str) -> bytes | None:
        with self._lock:
            value = self._values.get(check_key(key))
            self._ledger.use(key, time.time_ns())
            return value

    def put(self, key: str, value: Buffer) -> None:
        check_fits(check_key(key), memoryview(value).nbytes, self.max_size)
        data = bytes(memoryview(value))  # not of a number, which bytes takes for a size; and before the lock
        with self._lock:
            evicted = self._make_room(key, len(data))
            self._values[key] = data
            self._ledger.put(key, len(data), time.time_ns())
        if self.on_evict is not None:
            for victim, size in evicted:
                self.on_evict(victim, size)

    def delete(self, key: str) -> bool:
        with self._lock:
            self._ledger.drop(check_key(key))
            return self._values.pop(key, None) is not None

    def keys(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._values))

    def entries(self) -> Iterator[Entry]:
        with self._lock:
            return iter([Entry(key, size, used / 1e9) for key, size, used in self._ledger])

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._values)} values)"

    def _make_room(self, key: str, size: int) -> list[tuple[str, int]]:
        evicted: list[tuple[str, int]] = []
        if self.max_size is not None:
            while self._ledger.total - self._ledger.size(key) + size > self.max_size:
                oldest = self._ledger.oldest(besides=key)
                assert oldest is not None  # the value alone fits
                del self._values[oldest[0]]
                self._ledger.drop(oldest[0])
                evicted.append(oldest[:2])
        return evicted
