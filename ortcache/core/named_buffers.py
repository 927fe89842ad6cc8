"""Python functions as OrtReadNamedBufferFunc and OrtWriteNamedBufferFunc: named values that cross into C and back.

A value that is read goes out in memory from the allocator that C passed. One that is written comes in as a read-only
memoryview over C's own memory, so that it can be stored without a copy; it is dead when the call returns.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .callbacks import ENDING, status_callback, target
from .native import Native

__all__ = ["NamedBuffers", "Read", "Write", "read_pointer", "view_memory", "write_pointer"]

#: Gives the value of a key, or None where there is none.
Read = Callable[[str], Any]

#: Stores a key's value. The memoryview is valid during the call only.
Write = Callable[[str, memoryview], object]

_READ_ONLY, _WRITABLE = 0x100, 0x200  # PyBUF_READ, PyBUF_WRITE

_view_memory = ctypes.pythonapi.PyMemoryView_FromMemory
_view_memory.restype = ctypes.py_object
_view_memory.argtypes = [ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int]


@dataclass(frozen=True)
class NamedBuffers:
    """What a token stands for: one function a direction, or None."""

    read: Read | None = None
    write: Write | None = None


def read_pointer(native: Native) -> Any:
    """The OrtReadNamedBufferFunc of a library. It lives for ever; its state is the token of a `NamedBuffers`."""
    return status_callback(native, "OrtReadNamedBufferFunc", _read)


def write_pointer(native: Native) -> Any:
    """The OrtWriteNamedBufferFunc of a library, likewise."""
    return status_callback(native, "OrtWriteNamedBufferFunc", _write)


def view_memory(address: int, size: int, *, writable: bool = False) -> memoryview:
    """A memoryview over C's memory. Whoever makes it must see to it that nobody looks at it too late."""
    view: memoryview = _view_memory(address, size, _WRITABLE if writable else _READ_ONLY)
    return view


def _read(
    state: int | None, name: bytes, allocator: Any, buffer: Any, size: Any, ending: threading.Event = ENDING
) -> None:
    buffer[0], size[0] = None, 0  # success with these is a miss
    if ending.is_set():
        return
    functions: NamedBuffers = target(state)
    if functions.read is None:
        raise LookupError("no read function is set")
    data = functions.read(name.decode())
    if data.__class__ is not bytes:
        data = _flat(data)
    if not data:
        return
    count = len(data)
    address = allocator.contents.Alloc(allocator, count)
    if not address:
        raise MemoryError(f"the allocator gives no {count} bytes for {name.decode()!r}")
    if data.__class__ is bytes:  # the usual case, and this is the shorter way
        ctypes.memmove(address, data, count)
    else:
        view_memory(address, count, writable=True)[:] = data
    buffer[0], size[0] = address, count


def _flat(data: Any) -> memoryview | None:
    """What a read function gave, as contiguous bytes."""
    if data is None:
        return None
    try:
        view = memoryview(data)
    except TypeError:
        raise TypeError(f"a read function must give bytes or None, not {type(data).__name__}") from None
    if not view.nbytes:
        return None
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


def _write(state: int | None, name: bytes, buffer: int | None, size: int, ending: threading.Event = ENDING) -> None:
    if ending.is_set():
        return
    functions: NamedBuffers = target(state)
    if functions.write is None:
        raise LookupError("no write function is set")
    if size and not buffer:
        raise ValueError(f"{name.decode()!r}: {size} bytes at NULL")
    view = view_memory(buffer, size) if buffer and size else memoryview(b"")
    try:
        functions.write(name.decode(), view)
    finally:
        _kill(view)


def _kill(view: memoryview) -> None:
    """Make the view, and every slice that was taken of it, raise when it is used.

    Raises:
        BufferError: something still points into the memory. A slice is dead now; a numpy array cannot be stopped.
    """
    managed = gc.get_referents(view)  # the buffer that a view and what was made from it share
    kept = False
    try:
        view.release()
        if managed and sys.getrefcount(managed[0]) > _ALONE:
            kept = True
            for survivor in gc.get_referrers(managed[0]):
                if isinstance(survivor, memoryview):
                    survivor.release()
    except BufferError:
        kept = True
    if kept:
        raise BufferError(
            "the write function kept an object that points into the value's memory, which is C's again now: "
            "copy the value with bytes(value)"
        )


def _measure() -> int:
    view = view_memory(id(None), 1)
    managed = gc.get_referents(view)
    view.release()
    return sys.getrefcount(managed[0])


#: References to the shared buffer of a view that was released and has no slices left.
_ALONE = _measure()
