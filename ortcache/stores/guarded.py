"""A store whose backend may be away: after a failure it is left alone for a while."""

from __future__ import annotations

from collections.abc import Iterator

from .breaker import RETRY_AFTER, Breaker
from .protocol import Buffer, Entry, Store, list_entries
from .wrapper import Wrapper

__all__ = ["Guarded"]


class Guarded(Wrapper):
    """Passes calls on until one fails; then fails at once for a stated time, with one warning.

    Where reading fails, writing is not tried either. Where only writing fails (a full server, a replica), reading
    goes on.

    Args:
        inner: the store below.
        retry_after: seconds for which it is left alone.
        name: what it is called in messages.
    """

    def __init__(self, inner: Store, *, retry_after: float = RETRY_AFTER, name: str = "the store") -> None:
        super().__init__(inner)
        self._reading = Breaker(retry_after, name=name)
        self._writing = Breaker(retry_after, name=f"writing to {name}")

    def get(self, key: str) -> bytes | None:
        return self._reading.call(self.inner.get, key)

    def put(self, key: str, value: Buffer) -> None:
        self._reading.check()
        self._writing.call(self.inner.put, key, value)

    def delete(self, key: str) -> bool:
        self._reading.check()
        return self._writing.call(self.inner.delete, key)

    def keys(self) -> Iterator[str]:
        return self._reading.iterate(self.inner.keys)

    def entries(self) -> Iterator[Entry]:
        return self._reading.iterate(list_entries, self.inner)
