"""What scopes a store has entries of: a small record of its parts lies beside each one's entries."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from ..errors import InputError
from ..stores.namespaced import Namespaced
from ..stores.protocol import Store, list_entries
from .text import DIGEST_LENGTH, parts_digest

__all__ = ["ScopeRecord", "delete_scope", "read_parts", "record_of", "scopes", "write_parts"]

#: The namespace of the records; each has its scope's digest as key.
_RECORDS = "scopes"
_FORMAT = 1
_DIGEST = re.compile(rf"[0-9a-f]{{{DIGEST_LENGTH}}}")


@dataclass(frozen=True)
class ScopeRecord:
    """A scope that a store knows.

    Attributes:
        digest: the scope's.
        parts: its named parts; None where the record of them is lost: the entries are as good as ever.
        entries: how many it has.
        size: bytes of their values.
        used: Unix time of the last use of one, in seconds; None where the store keeps none.
    """

    digest: str
    parts: Mapping[str, str] | None
    entries: int
    size: int
    used: float | None = None


def scopes(store: Store) -> list[ScopeRecord]:
    """Every scope that the store has entries or a record of, in the order of their digests."""
    records = Namespaced(store, _RECORDS)
    found: dict[str, ScopeRecord] = {}
    recorded = set()
    for entry in list_entries(store):
        digest = entry.key.partition(".")[0]
        record = record_of(entry.key)
        if record is not None:
            recorded.add(record)
        elif _DIGEST.fullmatch(digest):
            before = found.get(digest, ScopeRecord(digest, None, 0, 0))
            used = max((time for time in (before.used, entry.used) if time is not None), default=None)
            found[digest] = ScopeRecord(digest, None, before.entries + 1, before.size + entry.size, used)
    for digest in recorded:
        one = found.get(digest, ScopeRecord(digest, None, 0, 0))
        found[digest] = ScopeRecord(digest, read_parts(records, digest), one.entries, one.size, one.used)
    return [found[digest] for digest in sorted(found)]


def record_of(key: str) -> str | None:
    """The digest of the scope whose record is stored under a key; None where that is no record."""
    namespace, _, digest = key.partition(".")
    return digest if namespace == _RECORDS and _DIGEST.fullmatch(digest) else None


def delete_scope(store: Store, digest: str) -> int:
    """Remove a scope's entries and its record; how many entries were there?

    Raises:
        InputError: that is no scope's digest.
    """
    if not isinstance(digest, str) or not _DIGEST.fullmatch(digest):
        raise InputError(f"{digest!r} is not the digest of a scope: that has {DIGEST_LENGTH} of 0-9 and a-f")
    # The keys as they are stored: also those whose values are damaged.
    entries = [key for key in store.keys() if key.startswith(f"{digest}.")]  # noqa: SIM118 - a store is no mapping
    deleted = sum(store.delete(key) for key in entries)
    Namespaced(store, _RECORDS).delete(digest)
    return deleted


def write_parts(store: Store, digest: str, parts: Mapping[str, str]) -> None:
    """Leave the record of a scope's parts."""
    record = json.dumps({"format": _FORMAT, "parts": dict(parts)}, indent=1)
    Namespaced(store, _RECORDS).put(digest, record.encode())


def read_parts(records: Store, digest: str) -> dict[str, str] | None:
    """The parts of a record; None where there is none, or it is not that scope's."""
    data = records.get(digest)
    try:
        parts = json.loads(data or b"")["parts"]
        return dict(parts) if parts_digest(parts) == digest else None
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
