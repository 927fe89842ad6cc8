"""EP cache functions at C's own level, for what well-behaved Python functions never do."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ortcache import raw
from ortcache.api.device import EpDevice
from ortcache.core.native import Native
from ortcache.runtime import Runtime
from ortcache.session import Session

__all__ = ["Memory", "function_session", "status"]


def status(native: Native, text: str = "it failed") -> int | None:
    """A new OrtStatus's address."""
    pointer = native.api.raw.CreateStatus(int(raw.OrtErrorCode.ORT_FAIL), text.encode())
    return ctypes.cast(pointer, ctypes.c_void_p).value


class Memory:
    """Read and write functions over a dict. `answer` and `refuse` take their place for one test.

    Attributes:
        calls: what came: (direction, key, state).
        answer: gets (key, allocator) and gives (status, buffer address, size).
        refuse: gets (key, data) and gives a status, or None for success.
        allocated: bytes given out by the allocator's own functions, through `allocate`.
    """

    def __init__(self, native: Native) -> None:
        self.native = native
        self.values: dict[str, bytes] = {}
        self.calls: list[tuple[str, str, int | None]] = []
        self.answer: Callable[[str, Any], tuple[int | None, int | None, int]] = self._found
        self.refuse: Callable[[str, bytes], int | None] = self._store
        self.read = raw.OrtReadNamedBufferFunc(self._read)
        self.write = raw.OrtWriteNamedBufferFunc(self._write)

    def allocate(self, allocator: Any, data: bytes) -> int:
        """Memory from an OrtAllocator with these bytes in it."""
        address: int = allocator.contents.Alloc(allocator, max(len(data), 1))
        ctypes.memmove(address, data, len(data))
        return address

    def _read(self, state: int | None, name: bytes, allocator: Any, buffer: Any, size: Any) -> int | None:
        self.calls.append(("read", name.decode(), state))
        result, buffer[0], size[0] = self.answer(name.decode(), allocator)
        return result

    def _write(self, state: int | None, name: bytes, buffer: int, size: int) -> int | None:
        self.calls.append(("write", name.decode(), state))
        return self.refuse(name.decode(), ctypes.string_at(buffer, size))

    def _found(self, name: str, allocator: Any) -> tuple[int | None, int | None, int]:
        data = self.values.get(name)
        return (None, None, 0) if data is None else (None, self.allocate(allocator, data), len(data))

    def _store(self, name: str, data: bytes) -> int | None:
        self.values[name] = data
        return None


@contextmanager
def function_session(
    rt: Runtime, devices: list[EpDevice], model: bytes, read: Any, write: Any, state: int | None = None, **settings: Any
) -> Iterator[Session]:
    """A session whose options got these functions through the C API."""
    with rt.session_options(**settings) as options:
        rt.api.SessionOptionsSetEpCacheDataFuncs(options, read, write, state)
        options.append_ep(devices)
        with rt.session(model, options) as session:
            yield session
