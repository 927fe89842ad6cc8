"""EP cache callbacks: large values against a plain copy of them, small ones against a callback that does nothing.

The memory that a read copies into is warm already: fresh pages would cost five times the copy.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

import ortcache
from ortcache import raw
from ortcache.core.callbacks import Token
from ortcache.core.named_buffers import NamedBuffers, read_pointer, write_pointer

from .measure import Row, alternate, calls

__all__ = ["rows"]

_SIZE = 64 << 20


def rows() -> list[Row]:
    native = ortcache.load().native
    source, target = np.ones(_SIZE, np.uint8), np.zeros(_SIZE, np.uint8)
    warm = _Warm(target.ctypes.data)

    def plain() -> None:
        ctypes.memmove(target.ctypes.data, source.ctypes.data, _SIZE)

    def store(key: str, value: memoryview) -> None:
        target[:] = np.frombuffer(value, np.uint8)

    large = Token(NamedBuffers(lambda key: source, store))
    small_value = b"x" * 64
    small = Token(NamedBuffers(lambda key: small_value, lambda key, value: None))
    read = _reader(native, large.value, warm, _SIZE)
    write = _writer(native, large.value, source)
    nothing = raw.OrtReadNamedBufferFunc(lambda *args: None)
    arguments = warm.arguments()

    return [
        _large("64 MB read through the callback, against memmove", read, plain),
        _large("64 MB written through the callback, against memmove", write, plain),
        _small("64-byte read, against a callback that does nothing", _reader(native, small.value, warm, 64),
               lambda: nothing(0, b"key", *arguments)),
    ]  # fmt: skip


class _Warm:
    """An OrtAllocator that always gives the same memory."""

    def __init__(self, address: int) -> None:
        fields: dict[str, Any] = {field[0]: field[1] for field in raw.OrtAllocator._fields_}
        self._alloc = fields["Alloc"](lambda this, size: address)
        self._struct = raw.OrtAllocator(version=raw.HEADERS_API_VERSION, Alloc=self._alloc)
        self.out, self.size = ctypes.c_void_p(), ctypes.c_size_t()

    def arguments(self) -> tuple[Any, ...]:
        return ctypes.pointer(self._struct), ctypes.byref(self.out), ctypes.byref(self.size)


def _reader(native: Any, token: int, warm: _Warm, size: int) -> Any:
    function, arguments = read_pointer(native), warm.arguments()

    def call() -> None:
        if function(token, b"key", *arguments) or warm.size.value != size:
            raise RuntimeError("the read failed")

    return call


def _writer(native: Any, token: int, source: Any) -> Any:
    function, address, size = write_pointer(native), source.ctypes.data, source.nbytes

    def call() -> None:
        if function(token, b"key", address, size):
            raise RuntimeError("the write failed")

    return call


def _large(what: str, ours: Any, theirs: Any) -> Row:
    mine, others, ratio = alternate(calls(ours, 1), calls(theirs, 1), 25)
    speeds = [f"{_SIZE / seconds / 1e9:.1f} GB/s" for seconds in (mine, others)]
    return Row(what, *speeds, ratio, 1 / 0.8)


def _small(what: str, ours: Any, theirs: Any) -> Row:
    mine, others, ratio = alternate(calls(ours, 2000), calls(theirs, 2000), 30)
    return Row(what, f"{mine * 1e6:.2f} us", f"{others * 1e6:.2f} us", ratio)
