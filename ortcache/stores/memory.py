"""Values in this process's memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from ..keys import check_key
from .protocol import Buffer

__all__ = ["MemoryStore"]


class MemoryStore:
    """A dict with a lock. A child process has a copy of its own after a fork."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._values: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        with self._lock:
            return self._values.get(check_key(key))

    def put(self, key: str, value: Buffer) -> None:
        data = bytes(memoryview(value))  # not of a number, which bytes takes for a size; and before the lock
        with self._lock:
            self._values[check_key(key)] = data

    def delete(self, key: str) -> bool:
        with self._lock:
            return self._values.pop(check_key(key), None) is not None

    def keys(self) -> Iterator[str]:
        with self._lock:
            return iter(list(self._values))

    def __repr__(self) -> str:
        return f"MemoryStore({len(self._values)} values)"
