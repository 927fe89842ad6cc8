from __future__ import annotations

import ctypes
import gc
import weakref
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.core.callbacks import Token
from ortcache.core.named_buffers import NamedBuffers, read_pointer, write_pointer


class Caller:
    """Calls the functions as C does."""

    def __init__(self, rt: oc.Runtime) -> None:
        self.native = rt.native
        self.allocator = rt.native.cpu_allocator

    def read(self, token: int, name: bytes = b"key") -> tuple[bytes | None, int, int | None]:
        """The value, its size, and the status's address."""
        out, size = ctypes.c_void_p(0xDEAD), ctypes.c_size_t(99)
        arguments = (self.allocator, ctypes.byref(out), ctypes.byref(size))
        status = read_pointer(self.native)(token, name, *arguments)
        data = ctypes.string_at(out.value, size.value) if out.value else None
        if out.value:
            self.allocator.contents.Free(self.allocator, out)
        return data, size.value, status

    def write(self, token: int, data: bytes, name: bytes = b"key") -> int | None:
        buffer = ctypes.create_string_buffer(data, len(data)) if data else None
        status: int | None = write_pointer(self.native)(token, name, buffer, len(data))
        return status

    def error(self, status: int | None) -> oc.OrtError:
        assert status, "this call should have failed"
        return self.native.statuses.error_at(status, "callback")


@pytest.fixture
def caller(rt: oc.Runtime) -> Iterator[Caller]:
    yield Caller(rt)


@pytest.mark.parametrize(
    "value",
    [
        b"abc",
        bytearray(b"xyz"),
        memoryview(b"0123")[1:3],
        memoryview(b"abcdef")[::2],
        np.arange(6, dtype=np.int32).reshape(2, 3).T,
        np.float64(2.5),
        bytes(3_000_000),
    ],
    ids=["bytes", "bytearray", "slice", "every other byte", "transposed array", "numpy scalar", "3 MB"],
)
def test_a_value_goes_out_whole_in_memory_of_the_allocator(caller: Caller, value: Any) -> None:
    token = Token(NamedBuffers(read=lambda key: value))
    data, size, status = caller.read(token.value)
    assert status is None
    assert data == memoryview(value).tobytes()
    assert size == len(data)


@pytest.mark.parametrize("value", [None, b"", bytearray(), np.zeros((0, 3)), memoryview(b"")])
def test_nothing_and_an_empty_value_are_a_miss(caller: Caller, value: Any) -> None:
    token = Token(NamedBuffers(read=lambda key: value))
    assert caller.read(token.value) == (None, 0, None)


@pytest.mark.parametrize("value", ["text", 3, 2.5, [1], object(), {"a": 1}, True])
def test_what_is_no_buffer_is_an_error_that_says_so(caller: Caller, value: Any) -> None:
    token = Token(NamedBuffers(read=lambda key: value))
    data, size, status = caller.read(token.value)
    assert (data, size) == (None, 0)
    error = caller.error(status)
    assert f"must give bytes or None, not {type(value).__name__}" in error.message
    assert isinstance(error.__cause__, TypeError)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError, BaseException])
def test_an_exception_becomes_a_status_and_is_its_cause(caller: Caller, kind: type[BaseException]) -> None:
    raised = kind("what went wrong")

    def fail(*args: Any) -> None:
        raise raised

    token = Token(NamedBuffers(read=fail, write=fail))
    _, _, status = caller.read(token.value)
    assert caller.error(status).__cause__ is raised
    error = caller.error(caller.write(token.value, b"data"))
    assert error.__cause__ is raised
    assert "what went wrong" in error.message


def test_memory_that_the_allocator_does_not_have_is_an_error(caller: Caller) -> None:
    class Huge:
        """An allocator with nothing."""

        def __init__(self) -> None:
            fields: dict[str, Any] = {f[0]: f[1] for f in raw.OrtAllocator._fields_}
            self.alloc = fields["Alloc"](lambda this, size: None)
            self.struct = raw.OrtAllocator(version=raw.HEADERS_API_VERSION, Alloc=self.alloc)

    empty = Huge()
    token = Token(NamedBuffers(read=lambda key: b"abc"))
    out, size = ctypes.c_void_p(), ctypes.c_size_t()
    status = read_pointer(caller.native)(
        token.value, b"key", ctypes.pointer(empty.struct), ctypes.byref(out), ctypes.byref(size)
    )
    assert isinstance(caller.error(status).__cause__, MemoryError)
    assert out.value is None
    assert size.value == 0


def test_a_written_value_comes_in_whole_and_read_only(caller: Caller) -> None:
    seen: list[tuple[str, bytes, bool]] = []
    token = Token(NamedBuffers(write=lambda key, value: seen.append((key, bytes(value), value.readonly))))
    assert caller.write(token.value, b"payload\0with NUL", b"name") is None
    assert caller.write(token.value, b"", b"empty") is None
    assert seen == [("name", b"payload\0with NUL", True), ("empty", b"", True)]


def test_a_kept_view_is_dead_after_the_call(caller: Caller) -> None:
    kept: list[memoryview] = []
    token = Token(NamedBuffers(write=lambda key, value: kept.append(value)))
    assert caller.write(token.value, b"payload") is None
    with pytest.raises(ValueError, match="released"):
        bytes(kept[0])


def test_a_kept_slice_is_dead_after_the_call_and_an_error(caller: Caller) -> None:
    kept: list[memoryview] = []
    token = Token(NamedBuffers(write=lambda key, value: kept.extend([value[1:4], value[2:][1:]])))
    error = caller.error(caller.write(token.value, b"payload"))
    assert "copy the value with bytes(value)" in error.message
    for view in kept:
        with pytest.raises(ValueError, match="released"):
            bytes(view)


def test_an_array_over_the_view_is_an_error(caller: Caller) -> None:
    kept: list[Any] = []
    token = Token(NamedBuffers(write=lambda key, value: kept.append(np.frombuffer(value, np.uint8))))
    assert isinstance(caller.error(caller.write(token.value, b"payload")).__cause__, BufferError)


def test_a_direction_without_a_function_is_an_error(caller: Caller) -> None:
    token = Token(NamedBuffers())
    assert "no read function" in caller.error(caller.read(token.value)[2]).message
    assert "no write function" in caller.error(caller.write(token.value, b"x")).message


def test_a_token_that_is_not_known_is_an_error(caller: Caller) -> None:
    for value in (0, 12345678, 2**63):
        assert isinstance(caller.error(caller.read(value)[2]).__cause__, oc.ClosedError)
        assert isinstance(caller.error(caller.write(value, b"x")).__cause__, oc.ClosedError)


def test_a_closed_token_is_an_error_and_lets_its_functions_go(caller: Caller) -> None:
    class Function:
        def __call__(self, key: str) -> bytes:
            return b"value"

    function = Function()
    gone = weakref.ref(function)
    token = Token(NamedBuffers(read=function))
    del function
    gc.collect()
    assert caller.read(token.value)[0] == b"value"
    token.close()
    gc.collect()
    assert gone() is None
    assert isinstance(caller.error(caller.read(token.value)[2]).__cause__, oc.ClosedError)


def test_a_name_that_is_not_utf8_is_an_error(caller: Caller) -> None:
    token = Token(NamedBuffers(read=lambda key: b"x", write=lambda key, value: None))
    assert isinstance(caller.error(caller.read(token.value, b"\xff\xfe")[2]).__cause__, UnicodeDecodeError)
    assert isinstance(caller.error(caller.write(token.value, b"x", b"\xff")).__cause__, UnicodeDecodeError)
