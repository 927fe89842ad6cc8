"""How the accesses of one execution provider to its cache went."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from enum import Enum

from ..locks import new_lock

__all__ = ["CacheCounters", "Counting", "Lookup", "Outcome"]


class Outcome(Enum):
    """How a look-up went."""

    HIT = "hit"
    MISS = "miss"
    ERROR = "error"
    OVERSIZE = "oversize"
    REFUSED = "refused"  # the key is not safe: nobody was asked
    OFF = "off"  # no read function is set, or the provider does not support reading


@dataclass(frozen=True)
class Lookup:
    """What a look-up gave: data where the outcome is a hit."""

    outcome: Outcome
    data: bytes | None = None


@dataclass(frozen=True)
class CacheCounters:
    """Accesses by outcome. Each access is in one of the counts, and ``rejected`` come on top of their hits.

    Attributes:
        hits: reads that gave a value.
        misses: reads that found none.
        errors: reads that failed.
        oversize: reads of a value above the limit.
        rejected: values that the provider found not to be its own, or damaged.
        refused: keys that are not safe, either way.
        writes: values written.
        write_failures: writes that failed, or were above the limit.
        bytes_read: bytes of the hits.
        bytes_written: bytes of the writes.
    """

    hits: int = 0
    misses: int = 0
    errors: int = 0
    oversize: int = 0
    rejected: int = 0
    refused: int = 0
    writes: int = 0
    write_failures: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    def as_dict(self) -> dict[str, int]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Counting:
    """Counters that threads add to."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._now = CacheCounters()

    @property
    def now(self) -> CacheCounters:
        with self._lock:
            return self._now

    def add(self, **more: int) -> None:
        with self._lock:
            self._now = replace(self._now, **{name: getattr(self._now, name) + n for name, n in more.items()})
