"""A store that nobody writes to through this object."""

from __future__ import annotations

from typing import NoReturn

from ..errors import InputError
from ..keys import check_key
from .flat import flat
from .protocol import Buffer, layers
from .wrapper import Wrapper

__all__ = ["ReadOnly", "is_read_only"]


class ReadOnly(Wrapper):
    """Reads and lists; refuses to write and to delete.

    A `Verified` store below it still moves what is damaged aside. Over this one it does not: so ``mode=r`` of
    `open_store` has them.

    A refusal is an InputError, not a StoreError: nothing is wrong with the backend. `is_read_only` lets whoever writes
    on an execution provider's behalf ask first.

    Args:
        inner: the store below. Others may write to it; what they write is seen.
    """

    read_only = True

    def put(self, key: str, value: Buffer) -> None:
        """Refused with InputError."""
        flat(value)  # what is no buffer is a TypeError in every store
        self._refuse(key, "stored")

    def delete(self, key: str) -> bool:
        """Refused with InputError."""
        self._refuse(key, "deleted")

    def _refuse(self, key: str, what: str) -> NoReturn:
        raise InputError(f"{check_key(key)!r} is not {what}: the store was opened read-only")


def is_read_only(store: object) -> bool:
    """Does this store, or one that it stands over, refuse to write? A store says so with ``read_only = True``."""
    return any(getattr(layer, "read_only", False) for layer in layers(store))
