"""The one join of stores and callbacks: what answers an execution provider that reads or writes its cache.

Three outcomes are kept apart: a hit, a miss, and a failure. A failure never breaks a run: the provider gets an error,
treats it as a miss, and it is counted and logged here. In strict mode it is raised from the making of the session.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, fields, replace
from typing import Any

from .core.named_buffers import NamedBuffers
from .core.status import describe
from .errors import InputError
from .keys import check_key
from .stores.fork import ForkLock
from .stores.ledger import parse_cap
from .stores.protocol import Buffer
from .stores.readonly import is_read_only

__all__ = ["DISABLE", "CacheCallbacks", "EpCacheStats", "caches_disabled", "choose_callbacks", "make_callbacks"]

#: Set to 1, it turns every cache off.
DISABLE = "ORTCACHE_DISABLE"

_log = logging.getLogger("ortcache.epcache")

#: Failures of one cache that are logged; the others are only counted.
_LOGGED = 5


@dataclass(frozen=True)
class EpCacheStats:
    """What went through the callbacks of one `CacheCallbacks`.

    Attributes:
        hits: reads that gave a value.
        misses: reads that found none.
        read_errors: reads that failed, or found a value above the limit.
        rejected: values that the provider refused as not its own, as far as it says so.
        writes: values stored.
        write_errors: writes that failed, or had a value above the limit.
        timeouts: those of the read and write errors where the store did not answer in time (a TimeoutError), or was
            not asked because it had not just before.
        bytes_read: bytes of the hits.
        bytes_written: bytes of the writes.
    """

    hits: int = 0
    misses: int = 0
    read_errors: int = 0
    rejected: int = 0
    writes: int = 0
    write_errors: int = 0
    timeouts: int = 0
    bytes_read: int = 0
    bytes_written: int = 0

    @property
    def reads(self) -> int:
        """All reads, however they went."""
        return self.hits + self.misses + self.read_errors

    def as_dict(self) -> dict[str, int]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


class CacheCallbacks:
    """Two functions, with keys checked, sizes limited, and outcomes counted.

    Args:
        read: gives the value of a key, or None. None for no reading.
        write: stores a key's value, a memoryview that is valid during the call only. None for no writing.
        strict: raise what fails from the making of the session.
        max_size: bytes of the largest value that passes either way, as `parse_size` takes them; None for no limit.

    Raises:
        InputError: ``max_size`` is no size.

    Attributes:
        strict: as it was given.
        max_size: bytes, or None.
    """

    def __init__(
        self,
        read: Callable[[str], Buffer | None] | None,
        write: Callable[[str, memoryview], object] | None,
        *,
        strict: bool = False,
        max_size: str | int | None = None,
    ) -> None:
        self._read = read
        self._write = write
        self.strict = strict
        self.max_size = parse_cap(max_size)
        self._collecting: list[tuple[int, list[BaseException]]] = []  # a thread, and what failed meanwhile
        self._failures = 0
        self._lock = ForkLock()
        self._stats = EpCacheStats()

    @property
    def reads(self) -> bool:
        """Is there a read function?"""
        return self._read is not None

    @property
    def writes(self) -> bool:
        """Is there a write function?"""
        return self._write is not None

    @property
    def buffers(self) -> NamedBuffers:
        """The two functions as C is to call them."""
        return NamedBuffers(self.read if self.reads else None, self.write if self.writes else None)

    @property
    def stats(self) -> EpCacheStats:
        """The counts up to now."""
        with self._lock:
            return self._stats

    def read(self, key: str) -> Buffer | None:
        """For the provider: the value, or None for a miss. What fails is counted and raised."""
        assert self._read is not None
        try:
            value = self._read(check_key(key))
            size = _size(value)
            self._check_size(key, size)
        except BaseException as error:
            self._failed("read", key, error)
            raise
        if size:
            self._count(hits=1, bytes_read=size)
        else:
            self._count(misses=1)
        return value

    def write(self, key: str, value: memoryview) -> None:
        """For the provider: store the value. What fails is counted and raised."""
        assert self._write is not None
        try:
            self._check_size(key, value.nbytes)
            self._write(check_key(key), value)
        except BaseException as error:
            self._failed("write", key, error)
            raise
        self._count(writes=1, bytes_written=value.nbytes)

    def reject(self) -> None:
        """A provider refused a value as not its own."""
        self._count(rejected=1)

    @contextlib.contextmanager
    def collecting(self) -> Iterator[list[BaseException]]:
        """Around the making of a session: the failures meanwhile, with their exceptions.

        What fails on the thread that makes a session is that session's. What fails on another thread may be any's, so
        all that are being made get it. No exception is kept for longer: it keeps alive what its frames refer to.
        """
        mine: tuple[int, list[BaseException]] = (threading.get_ident(), [])
        with self._lock:
            self._collecting.append(mine)
        try:
            yield mine[1]
        finally:
            with self._lock:
                self._collecting = [other for other in self._collecting if other is not mine]

    def _check_size(self, key: str, size: int) -> None:
        if self.max_size is not None and size > self.max_size:
            raise InputError(f"the value of {key!r} has {size} bytes; at most {self.max_size} may pass")

    def _count(self, **more: int) -> None:
        with self._lock:
            self._stats = replace(self._stats, **{name: getattr(self._stats, name) + n for name, n in more.items()})

    def _failed(self, what: str, key: str, error: BaseException) -> None:
        self._count(**{f"{what}_errors": 1}, timeouts=int(isinstance(error, TimeoutError)))
        with self._lock:
            self._failures += 1
            logged = self._failures <= _LOGGED
            here = threading.get_ident()
            own = [errors for thread, errors in self._collecting if thread == here]
            for errors in own[-1:] or [errors for _, errors in self._collecting]:
                if len(errors) < _LOGGED:
                    errors.append(error)
        if logged:
            level = logging.INFO if getattr(error, "told", False) else logging.WARNING
            # As text: a log record may be kept, and an exception in it would keep the session and more.
            _log.log(level, "EP cache: the %s of %r failed: %s", what, key, describe(error))


def _size(value: Buffer | None) -> int:
    try:
        return 0 if value is None else memoryview(value).nbytes
    except TypeError:
        raise TypeError(f"a read function must give bytes or None, not {type(value).__name__}") from None


def make_callbacks(
    cache: Any = None,
    *,
    read: Callable[[str], Buffer | None] | None = None,
    write: Callable[[str, memoryview], object] | None = None,
    strict: bool = False,
    max_size: str | int | None = None,
) -> CacheCallbacks | None:
    """A `CacheCallbacks` from what a user gives.

    Args:
        cache: a store (an object with ``get`` and ``put``), what names one for `open_store` (a URL or a path), or a
            mapping of key to bytes.
        read: a function instead, for reading.
        write: a function instead, for writing.

    Returns:
        None where neither direction is set: that clears what was set before.

    Raises:
        TypeError: both a cache and functions, or something that is none.
        InputError: a URL or a path that names no store, or ``max_size`` is no size. A store that cannot be opened is an
            error of each read and write.
    """
    if cache is not None and (read or write):
        raise TypeError("give either a cache or functions for it, not both")
    if cache is not None:
        read, write = _functions(cache)
    for function, name in ((read, "read"), (write, "write")):
        if function is not None and not callable(function):
            raise TypeError(f"{name} must be a function, not {type(function).__name__}")
    if read is None and write is None:
        return None
    return CacheCallbacks(read, write, strict=strict, max_size=max_size)


def choose_callbacks(cache: Any = None, **how: Any) -> CacheCallbacks | None:
    """What is to answer for session options: `make_callbacks`, which a `CacheCallbacks` passes through.

    None where neither direction is set, or the user turned every cache off.
    """
    if isinstance(cache, CacheCallbacks):
        if any(value not in (None, False) for value in how.values()):
            raise TypeError("a CacheCallbacks has its functions, strict and max_size already: give them to it")
        chosen: CacheCallbacks | None = cache
    else:
        chosen = make_callbacks(cache, **how)
    if chosen is not None and caches_disabled():
        _log.info("EP cache: %s is set, so none is used", DISABLE)
        return None
    return chosen


def caches_disabled() -> bool:
    """Did the user turn every cache off?"""
    return os.environ.get(DISABLE, "") not in ("", "0")


def _functions(cache: Any) -> tuple[Any, Any]:
    if isinstance(cache, str | os.PathLike):
        from .stores.late import LateStore

        cache = LateStore(cache)
    if callable(getattr(cache, "get", None)) and callable(getattr(cache, "put", None)):
        return cache.get, None if is_read_only(cache) else cache.put
    if isinstance(cache, MutableMapping):
        # bytes: the memoryview is dead after the call, and a mapping keeps what it is given.
        return cache.get, lambda key, value: cache.__setitem__(key, bytes(value))
    raise TypeError(
        "an EP cache is a store with get and put, a URL or a path that names one, a mapping, or read= and write= "
        f"functions, not {type(cache).__name__}"
    )
