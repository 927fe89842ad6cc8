"""Stores whose backend can be made to fail or to hang."""

from __future__ import annotations

import threading

from ortcache.errors import StoreError
from ortcache.stores import Buffer, MemoryStore

__all__ = ["Faulty", "Hanging"]


class Faulty(MemoryStore):
    """Fails as long as ``down`` is set, and counts who asks."""

    def __init__(self, *, down: bool = False, max_size: int | None = None) -> None:
        super().__init__(max_size=max_size)
        self.down = down
        self.asked = 0

    def get(self, key: str) -> bytes | None:
        self._ask()
        return super().get(key)

    def put(self, key: str, value: Buffer) -> None:
        self._ask()
        super().put(key, value)

    def delete(self, key: str) -> bool:
        self._ask()
        return super().delete(key)

    def keys(self):  # type: ignore[no-untyped-def]
        self._ask()
        return super().keys()

    def entries(self):  # type: ignore[no-untyped-def]
        self._ask()
        return super().entries()

    def _ask(self) -> None:
        self.asked += 1
        if self.down:
            raise StoreError("connection refused")


class Hanging(Faulty):
    """Does not answer before ``go`` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.finished = 0

    def _ask(self) -> None:
        super()._ask()
        self.go.wait(60)
        self.finished += 1
