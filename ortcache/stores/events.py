"""What happens in a store, told to whoever wants to know."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

__all__ = ["Event", "EventHook", "EventKind"]


class EventKind(Enum):
    """The kinds, in the order in which one key's may come."""

    MISS = "miss"
    BUILD = "build starting"  # told after a miss, before the provider compiles
    STORED = "stored"
    HIT = "hit"
    EVICTED = "evicted"
    FAILED = "failed"


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: what.
        key: the entry's key.
        size: bytes of the value; None where there is none.
        seconds: what the store's operation took; None where there was none.
        level: the name of the level of a tiered store; None elsewhere.
        build_seconds: of a value that is stored after a miss of the same key: the time since the miss.
        error: what failed, as text.
    """

    kind: EventKind
    key: str
    size: int | None = None
    seconds: float | None = None
    level: str | None = None
    build_seconds: float | None = None
    error: str | None = None


#: Gets each event on the thread where it happens. What it raises is logged and goes no further.
EventHook = Callable[[Event], object]
