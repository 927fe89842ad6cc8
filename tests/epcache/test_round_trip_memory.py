"""The memory that a value comes in is given back."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from ortcache import raw
from ortcache.core.native import native_at
from ortcache.runtime import Runtime

from ..support.cache_eps import Recorder, cached_session, outcomes
from ..support.ep_models import many_muls

MANY = many_muls(3)  # three Muls, with a key each


class CountingAllocator:
    """An OrtAllocator over C's malloc that knows what is out."""

    def __init__(self) -> None:
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
        libc.free.argtypes = [ctypes.c_void_p]
        self.out: dict[int, int] = {}
        self.sizes: list[int] = []  # of all that ever was
        fields: dict[str, Any] = {field[0]: field[1] for field in raw.OrtAllocator._fields_}

        def alloc(_this: Any, size: int) -> int:
            address: int = libc.malloc(size)
            self.out[address] = size
            self.sizes.append(size)
            return address

        def free(_this: Any, address: int) -> None:
            del self.out[address]
            libc.free(address)

        self._functions = fields["Alloc"](alloc), fields["Free"](free)
        self._struct = raw.OrtAllocator(version=23, Alloc=self._functions[0], Free=self._functions[1])
        self.pointer = ctypes.pointer(self._struct)


@pytest.fixture
def allocator(rt: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[CountingAllocator]:
    """What EPs hand to read functions, for the length of a test."""
    counting = CountingAllocator()
    for native in (rt.native, native_at(rt.native.base)):  # an EP has the first of those over its library
        monkeypatch.setitem(native.__dict__, "cpu_allocator", counting.pointer)
    yield counting


@pytest.mark.parametrize("values", ["its own", "damaged", "too large"])
def test_the_buffer_of_a_read_is_freed_with_the_allocator_that_was_given(
    rt: Runtime, mul: Any, allocator: CountingAllocator, values: str
) -> None:
    recorder = Recorder()
    with cached_session(rt, mul, recorder, MANY):
        pass
    if values == "damaged":
        recorder.values = {key: b"other " + value for key, value in recorder.values.items()}
    limit = {"max_plan_bytes": "10"} if values == "too large" else None
    values_read = list(recorder.values.values())
    with cached_session(rt, mul, recorder, MANY, ep_options=limit):
        wanted = {"its own": "hit", "damaged": "rejected_magic", "too large": "oversize"}[values]
        assert outcomes()[wanted] == 3
    assert sorted(allocator.sizes)[-3:] == sorted(map(len, values_read))
    assert allocator.out == {}
