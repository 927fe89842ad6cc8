"""ctypes makes a callback of every function that C may want from us, and they can be called."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

from ortcache import raw
from ortcache.raw import _declarations as declared
from ortcache.raw._support import bindings

_MEMBERS = [
    (name, row[0])
    for name, rows in sorted(declared.STRUCTS.items())
    if not name.endswith(("Api", "ApiBase"))
    for row in rows
    if len(row) == 4
]


def _zero(kind: Any) -> Any:
    """A value that the parameter type takes."""
    if hasattr(kind, "contents") or issubclass(kind, ctypes._CFuncPtr):
        return kind()
    return kind() if kind in (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_wchar_p) else kind(0)


def _call(kind: Any) -> tuple[list[int], Any]:
    """Make a callback of a Python function and call it with nothing in every parameter."""
    seen: list[int] = []

    def function(*args: Any) -> Any:
        seen.append(len(args))
        return None if kind._restype_ is None else 0

    callback = kind(function)
    return seen, callback(*[_zero(parameter) for parameter in kind._argtypes_])


@pytest.mark.parametrize("name", sorted(declared.CALLBACKS))
def test_every_callback_type_takes_a_python_function(name: str) -> None:
    kind = getattr(raw, name)
    assert (kind.__name__, kind.__module__) == (name, "ortcache.raw")
    seen, result = _call(kind)
    assert seen == [len(kind._argtypes_)]
    assert not result


def test_there_are_function_members() -> None:
    assert len(_MEMBERS) > 100
    assert {"OrtEp", "OrtEpFactory", "OrtAllocator", "OrtNodeComputeInfo"} <= {struct for struct, _ in _MEMBERS}


@pytest.mark.parametrize(("struct", "member"), _MEMBERS)
def test_every_function_member_takes_a_python_function(struct: str, member: str) -> None:
    kind = dict(getattr(raw, struct)._fields_)[member]
    seen, result = _call(kind)
    assert seen == [len(kind._argtypes_)]
    assert not result
    holder = getattr(raw, struct)()
    called: list[bool] = []
    setattr(holder, member, kind(lambda *args: called.append(True) or (None if kind._restype_ is None else 0)))
    getattr(holder, member)(*[_zero(parameter) for parameter in kind._argtypes_])
    assert called == [True]


@pytest.mark.parametrize(("struct", "member"), _MEMBERS)
def test_a_pointer_that_a_callback_returns_is_an_address(struct: str, member: str) -> None:
    slot = next(slot for slot in raw.slots(struct) if slot.name == member)
    kind = dict(getattr(raw, struct)._fields_)[member]
    if "*" in slot.returns:
        assert kind._restype_ is ctypes.c_void_p
        assert kind(lambda *args: 0x1234)(*[_zero(parameter) for parameter in kind._argtypes_]) == 0x1234
    else:
        assert kind._restype_ is not ctypes.c_void_p


def test_a_table_function_can_be_implemented_where_that_is_asked_for() -> None:
    called = bindings().prototype("OrtApi", "CreateSession")
    implemented = bindings().prototype("OrtApi", "CreateSession", implemented=True)
    assert called._restype_ is ctypes.POINTER(raw.OrtStatus)
    assert implemented._restype_ is ctypes.c_void_p
    assert called._argtypes_ == implemented._argtypes_
    with pytest.raises(TypeError, match=r"OrtAllocator\.version is no function"):
        bindings().prototype("OrtAllocator", "version")


def test_callback_types_of_one_signature_are_not_mixed_up() -> None:
    start, stop = raw.OrtThreadPoolWorkStartFn, raw.OrtThreadPoolWorkStopFn
    assert start._argtypes_ == stop._argtypes_ and start is not stop
    config = raw.OrtThreadPoolCallbacksConfig()
    with pytest.raises(TypeError):
        config.on_start_work = stop(lambda *args: None)


def test_none_is_a_null_callback() -> None:
    taker = ctypes.CFUNCTYPE(ctypes.c_int, raw.OrtReadNamedBufferFunc)(lambda given: int(bool(given)))
    assert taker(None) == 0
    assert taker(raw.OrtReadNamedBufferFunc(lambda *args: 0)) == 1
    with pytest.raises(ctypes.ArgumentError):
        taker(raw.OrtWriteNamedBufferFunc(lambda *args: 0))
