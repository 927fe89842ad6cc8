"""An execution provider's side of the EP cache callbacks.

Nothing that the cache does may break a session: a failed read is a miss, a failed write is a warning. There is no other
place where values go, such as a file.
"""

from __future__ import annotations

import contextlib
import ctypes
import weakref
from typing import Any

import numpy as np

from .. import raw
from ..core.named_buffers import view_memory
from ..core.native import Native
from ..errors import OrtError
from ..host.entries import Entry
from ..keys import key_problem
from ..locks import new_lock
from ..support import CacheSupport
from .counters import CacheCounters, Counting, Lookup, Outcome
from .log import EpLogger

__all__ = ["CacheFunctions", "EpCache"]

_WARNINGS = 5  # in one session


class CacheFunctions:
    """The functions that the application set: C's, whoever wrote them.

    Args:
        entry: the host's, which keeps what the functions need, and is told of values that are refused.
    """

    def __init__(
        self, read: Any = None, write: Any = None, state: int | None = None, entry: Entry | None = None
    ) -> None:
        self.read: Any = read or None
        self.write: Any = write or None
        self.state = state
        self.entry = entry


class EpCache:
    """Values by key, through the application's functions. No method raises.

    What an access may do is the application's to set and the provider's to support: see `readable` and `writable`.
    """

    def __init__(self, native: Native, functions: CacheFunctions, log: EpLogger) -> None:
        self._native = native
        self._functions: CacheFunctions | None = functions
        self._log = log
        self._counting = Counting()
        self._warnings = 0
        self._lock = new_lock()
        self._owner: Any = lambda: None

    def serve(self, ep: Any) -> None:
        """Work for this provider: its ``cache_support`` and limits count."""
        self._owner = weakref.ref(ep)

    @property
    def readable(self) -> bool:
        """Is there a read function, and does the provider support reading?"""
        functions = self._functions
        return functions is not None and functions.read is not None and bool(self._support() & CacheSupport.READ)

    @property
    def writable(self) -> bool:
        """The same for writing."""
        functions = self._functions
        return functions is not None and functions.write is not None and bool(self._support() & CacheSupport.WRITE)

    @property
    def counters(self) -> CacheCounters:
        """How the accesses went up to now."""
        return self._counting.now

    def get(self, key: str) -> bytes | None:
        """The value of a key; None for a miss, whatever its reason."""
        return self.look(key).data

    def look(self, key: str) -> Lookup:
        """The same with the reason."""
        functions = self._functions
        if functions is None or not self.readable:
            return Lookup(Outcome.OFF)
        if not self._is_safe(key):
            return Lookup(Outcome.REFUSED)
        try:
            data = self._read(functions, key.encode(), self._limit("cache_read_limit"))
        except _OversizeError as error:
            self._counting.add(oversize=1)
            self.warn("EP cache: the value of %r is too large and is not used: %s", key, error)
            return Lookup(Outcome.OVERSIZE)
        except Exception as error:
            self._counting.add(errors=1)
            self.warn("EP cache: reading %r failed, which is a miss: %s", key, error)
            return Lookup(Outcome.ERROR)
        if data is None:
            self._counting.add(misses=1)
            return Lookup(Outcome.MISS)
        self._counting.add(hits=1, bytes_read=len(data))
        return Lookup(Outcome.HIT, data)

    def put(self, key: str, data: Any) -> bool:
        """Store a value: bytes, or anything with a buffer. Was it stored?"""
        functions = self._functions
        if functions is None or not self.writable or not self._is_safe(key):
            return False
        try:
            size = self._write(functions, key.encode(), data, self._limit("cache_write_limit"))
        except Exception as error:
            self._counting.add(write_failures=1)
            self.warn("EP cache: writing %r failed: %s", key, error)
            return False
        self._counting.add(writes=1, bytes_written=size)
        return True

    def reject(self, key: str, reason: str) -> None:
        """Say that the value of a key is not the provider's own, or is damaged: it is to be treated as a miss."""
        self._counting.add(rejected=1)
        functions = self._functions
        if functions is not None and functions.entry is not None:
            with contextlib.suppress(Exception):  # no method here raises
                functions.entry.rejected()
        self.warn("EP cache: the value of %r is not used: %s", key, reason)

    def warn(self, message: str, *args: object) -> None:
        """Log a warning; after a few of them the session gets no more."""
        with self._lock:
            self._warnings += 1
            number = self._warnings
        if number <= _WARNINGS:
            self._log.warning(message, *args)
        if number == _WARNINGS:
            self._log.warning("EP cache: further warnings of this session are left out")

    def close(self) -> None:
        """The session is gone: the functions are not called any more, and what they need is let go."""
        self._functions = None

    def _support(self) -> int:
        try:
            return int(self._owner().cache_support)
        except Exception:  # there is no provider (yet), or its property fails
            return CacheSupport.NONE

    def _limit(self, name: str) -> int:
        return int(getattr(self._owner(), name))

    def _is_safe(self, key: object) -> bool:
        if key_problem(key) is None:
            return True
        self._counting.add(refused=1)
        self.warn("EP cache: the key %.300r is not safe as a file name on every system and is refused", key)
        return False

    def _read(self, functions: CacheFunctions, key: bytes, limit: int) -> bytes | None:
        allocator = self._native.cpu_allocator
        buffer, size = ctypes.c_void_p(), ctypes.c_size_t()
        args = (functions.state, key, allocator, ctypes.byref(buffer), ctypes.byref(size))
        status = self._native.statuses.call(functions.read, args)
        if status:
            raise self._failure(status, "OrtReadNamedBufferFunc")
        if not buffer.value:
            return None
        try:
            if size.value > limit:
                raise _OversizeError(f"{size.value} bytes, and the limit is {limit}")
            return bytes(view_memory(buffer.value, size.value)) if size.value else None
        finally:
            self._native.api.AllocatorFree(allocator, buffer)

    def _write(self, functions: CacheFunctions, key: bytes, data: Any, limit: int) -> int:
        view = memoryview(data)
        if not view.nbytes:
            raise ValueError("the value is empty, and an empty value means a miss")
        if view.nbytes > limit:
            raise _OversizeError(f"it has {view.nbytes} bytes, and the limit is {limit}")
        memory = np.frombuffer(view if view.c_contiguous else view.tobytes(), np.uint8)
        args = (functions.state, key, memory.ctypes.data, memory.nbytes)
        status = self._native.statuses.call(functions.write, args)
        if status:
            raise self._failure(status, "OrtWriteNamedBufferFunc")
        return memory.nbytes

    def _failure(self, status: int, function: str) -> OrtError:
        return self._native.statuses.error(ctypes.cast(status, ctypes.POINTER(raw.OrtStatus)), function)


class _OversizeError(ValueError):
    """A value above the limit."""
