"""A store that counts what happens in it, and tells it."""

from __future__ import annotations

import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import TypeVar

from .events import Event, EventHook, EventKind
from .evictions import listen
from .fork import ForkLock
from .protocol import Buffer, Store
from .wrapper import Wrapper

__all__ = ["Counted", "StoreStats"]

#: Keys that are missed and not stored yet, of which the time of the miss is kept.
_PENDING = 1024

#: Failures of one hook that are logged.
_LOGGED = 5

_log = logging.getLogger("ortcache.stores")
_Answer = TypeVar("_Answer")


@dataclass(frozen=True)
class StoreStats:
    """What went through a store.

    Attributes:
        hits: reads that gave a value.
        misses: reads that found none.
        stored: values stored.
        evicted: values that made room for others.
        failed: reads, writes and deletions that raised.
        bytes_read: bytes of the hits.
        bytes_written: bytes of what was stored.
        seconds: what reads, writes and deletions took together; those at the same time are all counted.
    """

    hits: int = 0
    misses: int = 0
    stored: int = 0
    evicted: int = 0
    failed: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    seconds: float = 0.0

    def as_dict(self) -> dict[str, int | float]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Counted(Wrapper):
    """Counts hits, misses, stored and evicted values, failures, bytes and seconds, and tells a hook each.

    After a miss comes "build starting", before the caller knows of the miss: a provider compiles next. A line in the
    log says so too (logger ``ortcache.stores``, INFO). The time from there to when the same key is stored is the
    event's ``build_seconds``. A level of a tiered store starts no build.

    What makes room is told where a store below has ``on_evict``, with the key and size that it has there.

    Args:
        inner: the store below.
        hook: gets each `Event`, on the thread where it happens. What it raises is logged and goes no further.
        level: the name of this level of a tiered store; None where it is none.
    """

    def __init__(self, inner: Store, hook: EventHook | None = None, *, level: str | None = None) -> None:
        super().__init__(inner)
        self._hook = hook
        self._level = level
        self._lock = ForkLock()
        self._stats = StoreStats()
        self._missed: OrderedDict[str, float] = OrderedDict()
        self._hook_failures = 0
        listen(inner, self)

    @property
    def stats(self) -> StoreStats:
        """The counts up to now."""
        with self._lock:
            return self._stats

    def get(self, key: str) -> bytes | None:
        value, seconds = self._timed(key, lambda: self.inner.get(key))
        if value is not None:
            self._built(key)
            self._count(hits=1, bytes_read=len(value), seconds=seconds)
            self._tell(EventKind.HIT, key, size=len(value), seconds=seconds)
            return value
        self._count(misses=1, seconds=seconds)
        self._tell(EventKind.MISS, key, seconds=seconds)
        if self._level is None:
            _log.info("there is no entry %r: a build starts now, and may take minutes", key)
            self._tell(EventKind.BUILD, key)
            with self._lock:
                self._missed[key] = time.monotonic()
                self._missed.move_to_end(key)
                if len(self._missed) > _PENDING:
                    self._missed.popitem(last=False)
        return None

    def put(self, key: str, value: Buffer) -> None:
        size = memoryview(value).nbytes
        built = time.monotonic()
        _, seconds = self._timed(key, lambda: self.inner.put(key, value))
        missed = self._built(key)
        self._count(stored=1, bytes_written=size, seconds=seconds)
        self._tell(
            EventKind.STORED, key, size=size, seconds=seconds, build_seconds=None if missed is None else built - missed
        )

    def delete(self, key: str) -> bool:
        deleted, seconds = self._timed(key, lambda: self.inner.delete(key))
        self._count(seconds=seconds)
        return deleted

    def evicted(self, key: str, size: int) -> None:
        """A store below says that a value made room."""
        self._count(evicted=1)
        self._tell(EventKind.EVICTED, key, size=size)

    def _timed(self, key: str, function: Callable[[], _Answer]) -> tuple[_Answer, float]:
        start = time.monotonic()
        try:
            answer = function()
        except Exception as error:
            seconds = time.monotonic() - start
            self._count(failed=1, seconds=seconds)
            self._tell(EventKind.FAILED, key, seconds=seconds, error=f"{type(error).__name__}: {error}")
            raise
        return answer, time.monotonic() - start

    def _built(self, key: str) -> float | None:
        """The key is there; when was it missed?"""
        with self._lock:
            return self._missed.pop(key, None)

    def _count(self, **more: float) -> None:
        with self._lock:
            self._stats = replace(self._stats, **{name: getattr(self._stats, name) + n for name, n in more.items()})

    def _tell(
        self,
        kind: EventKind,
        key: str,
        *,
        size: int | None = None,
        seconds: float | None = None,
        build_seconds: float | None = None,
        error: str | None = None,
    ) -> None:
        if self._hook is None:
            return
        try:
            self._hook(Event(kind, key, size, seconds, self._level, build_seconds, error))
        except Exception as problem:
            with self._lock:
                self._hook_failures += 1
                number = self._hook_failures
            if number <= _LOGGED:
                last = "; further failures of it are not logged" if number == _LOGGED else ""
                _log.warning("a hook failed at %r: %s: %s%s", kind.value, type(problem).__name__, problem, last)
