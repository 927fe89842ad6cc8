"""The scopes in a store as commands choose and show them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..errors import InputError, OrtcacheError
from ..scope import ScopeRecord, scopes
from ..scope.records import record_of
from ..stores.protocol import Entry, Store
from .entries import count
from .units import age, moment, size_text

__all__ = ["chosen_scope", "document", "last_uses", "read_scopes", "stored_keys", "text"]


def read_scopes(store: Store) -> list[ScopeRecord]:
    """The scopes in a store, the last used first."""
    return sorted(scopes(store), key=lambda scope: (-(scope.used or 0), scope.digest))


def chosen_scope(store: Store, start: str) -> ScopeRecord:
    """The scope whose digest starts so.

    Raises:
        OrtcacheError: there is none.
        InputError: there are several.
    """
    found = [scope for scope in read_scopes(store) if scope.digest.startswith(start.lower())]
    if not found:
        raise OrtcacheError(f"no scope's digest starts with {start!r}: see `ortcache ls --scopes`")
    if len(found) > 1:
        raise InputError(f"{len(found)} scopes' digests start with {start!r}: write more of it")
    return found[0]


def stored_keys(store: Store, scope: ScopeRecord) -> list[str]:
    """The keys of a scope's entries and of the record of its parts, as they are in the store."""
    return [key for key in store.keys() if scope.digest in key.split(".")[:2]]  # noqa: SIM118 - a store is no mapping


def last_uses(entries: Iterable[Entry]) -> dict[str, float]:
    """When each key was last used, 0 where that is not known. The record of a scope's parts counts as used when one of
    its entries was: it is read only to explain a miss, and is of use as long as they are."""
    known = list(entries)
    latest: dict[str, float] = {}
    for entry in known:
        digest = entry.key.partition(".")[0]
        latest[digest] = max(latest.get(digest, 0), entry.used or 0)
    return {entry.key: max(entry.used or 0, latest.get(record_of(entry.key) or "", 0)) for entry in known}


def document(scope: ScopeRecord) -> dict[str, Any]:
    """A scope for ``--json``."""
    return {
        "digest": scope.digest,
        "parts": None if scope.parts is None else dict(scope.parts),
        "entries": scope.entries,
        "size": scope.size,
        "used": scope.used,
        "used_at": None if scope.used is None else moment(scope.used),
    }


def text(scope: ScopeRecord) -> list[str]:
    """A scope for people: its figures, then a part a line."""
    used = "" if scope.used is None else f", last used {age(scope.used)} ago"
    parts = ["(no record of its parts)"] if scope.parts is None else [f"{n}: {part}" for n, part in scope.parts.items()]
    return [f"{scope.digest}  {count(scope.entries)}, {size_text(scope.size)}{used}", *(f"  {part}" for part in parts)]
