"""Several who want to know what made room in one store."""

from __future__ import annotations

import weakref
from typing import Any, Protocol

from .ledger import OnEvict
from .protocol import layers

__all__ = ["Listener", "listen"]


class Listener(Protocol):
    """Whoever wants to know."""

    def evicted(self, key: str, size: int) -> None:
        """That value made room."""


class _Evictions:
    """What a store has as ``on_evict``: tells whoever was there before, and every listener that is alive."""

    def __init__(self, before: OnEvict | None) -> None:
        self._before = before
        self._listeners: tuple[weakref.ref[Listener], ...] = ()

    def add(self, listener: Listener) -> None:
        alive = (other for other in self._listeners if other() is not None)
        self._listeners = (*alive, weakref.ref(listener))

    def __call__(self, key: str, size: int) -> None:
        for reference in self._listeners:
            listener = reference()
            if listener is not None:
                listener.evicted(key, size)
        if self._before is not None:
            self._before(key, size)


def listen(store: object, listener: Listener) -> None:
    """Tell the listener, as long as it lives, what makes room in the innermost store that says so."""
    found: Any = None
    for layer in layers(store):
        found = layer if hasattr(layer, "on_evict") else found
    if found is None:
        return
    if not isinstance(found.on_evict, _Evictions):
        found.on_evict = _Evictions(found.on_evict)
    found.on_evict.add(listener)
