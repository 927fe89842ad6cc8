"""A directory's one entry in a store, and what becomes of the store's failures."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from ..keys import check_key
from ..scope import Scope
from ..stores.protocol import Store, get_view, layers
from ..stores.verified import Verified
from .pack import Pack, read_pack

__all__ = ["StoredDirectory"]

_log = logging.getLogger("ortcache.bridge")
_T = TypeVar("_T")


class StoredDirectory:
    """The entry of one name in one scope.

    A failure of the store is logged and counted, and the run goes on without the entry.

    Args:
        store: where it is.
        scope: what it depends on.
        name: its own.
        writable: may it be stored and moved aside?
        strict: raise the failures.

    Attributes:
        identity: tells this entry from all others, without a space.
        label: for messages.
        failed: how many operations failed.
        quarantined: how often an entry was moved aside.
    """

    def __init__(self, store: Store, scope: Scope, name: str, *, writable: bool, strict: bool) -> None:
        self._key = check_key(f"directory.{name}")
        self._aside = check_key(f"unusable.{name}")
        self._store = scope.over(store)
        self._strict = strict
        self.identity = f"{scope.digest}.{name}"
        self.label = f"{name} of scope {scope.digest[:12]}"
        self._writable = writable
        self._verified = _is_verified(store)
        self.failed = 0
        self.quarantined = 0

    def load(self) -> Pack | None:
        """The entry, where there is one that is whole. A damaged one is moved aside."""
        data = self._attempt("reading it from the store", lambda: get_view(self._store, self._key))
        if data is None:
            return None
        pack = read_pack(data, checked=self._verified)
        if isinstance(pack, Pack):
            return pack
        _log.warning("the entry of %s cannot be used: %s", self.label, pack)
        if self._writable:
            self._move_aside(data)
        return None

    def save(self, value: bytearray) -> bool:
        """Store a pack whole; was it?"""

        def put() -> bool:
            self._store.put(self._key, value)
            return True

        return self._attempt("storing it", put) or False

    def quarantine(self, digest: str) -> None:
        """Move the entry aside, where it is still the pack with that digest. One is kept, the last."""
        if not self._writable:
            return
        data = self._attempt("reading it again", lambda: self._store.get(self._key))
        pack = read_pack(data, checked=True) if data is not None else ""
        if data is not None and isinstance(pack, Pack) and pack.digest == digest:
            self._move_aside(data)

    def why_missed(self) -> str:
        """Why there is no entry, in words."""
        if self.quarantined:
            return "the entry was damaged"
        if self.failed:  # whoever waited for the store once need not do so twice
            return "the store failed"
        told = self._attempt("asking why it is missed", lambda: str(self._store.explain()))
        return told or "the store does not say why"

    def _move_aside(self, data: bytes | memoryview) -> None:
        # First: at a cap, others would make room for a second copy.
        self._attempt("removing it", lambda: self._store.delete(self._key))
        self._attempt("keeping it aside", lambda: self._store.put(self._aside, data))
        self.quarantined += 1

    def _attempt(self, what: str, function: Callable[[], _T]) -> _T | None:
        try:
            return function()
        except Exception as error:
            if self._strict:
                raise
            self.failed += 1
            _log.warning("%s: %s failed, and the run goes on without: %s: %s",
                         self.label, what, type(error).__name__, error)  # fmt: skip
            return None


def _is_verified(store: object) -> bool:
    """Are values that this store gives checked, by itself or by one that it stands over?"""
    return any(isinstance(layer, Verified) for layer in layers(store))
