"""The base of the stores that stand over one other store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from .protocol import Buffer, Entry, Store, check_store, close_store, list_entries

__all__ = ["Wrapper"]


class Wrapper:
    """Passes everything through: a subclass changes what it is for.

    Attributes:
        inner: the store below.

    Raises:
        TypeError: it is no store.
    """

    def __init__(self, inner: Store) -> None:
        check_store(inner, type(self).__name__)
        self.inner = inner

    def get(self, key: str) -> bytes | None:
        return self.inner.get(key)

    def put(self, key: str, value: Buffer) -> None:
        self.inner.put(key, value)

    def delete(self, key: str) -> bool:
        return self.inner.delete(key)

    def keys(self) -> Iterator[str]:
        return self.inner.keys()

    def entries(self) -> Iterator[Entry]:
        return list_entries(self.inner)

    def close(self) -> None:
        close_store(self.inner)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.inner!r})"
