"""The functions for where a call's own time counts: the same ones, with addresses."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.core.quick import Quick


def _address(function: Any) -> int | None:
    return ctypes.cast(function, ctypes.c_void_p).value


@pytest.mark.parametrize("name", ["Run", "RunWithBinding", "ReleaseValue", "CreateStatus"])
def test_it_is_the_same_function(rt: oc.Runtime, name: str) -> None:
    assert _address(getattr(rt.native.quick, name)) == _address(getattr(rt.api.raw, name))


def test_every_function_of_the_library_is_there_with_untyped_pointers(rt: oc.Runtime) -> None:
    names = [slot.name for slot in raw.slots("OrtApi") if rt.api.raw.holds(slot.name)]
    assert len(names) > 300
    quick = Quick(rt.api.raw)
    for name in names:
        typed, untyped = getattr(rt.api.raw, name), getattr(quick, name)
        assert len(untyped.argtypes) == len(typed.argtypes)
        for kind, original in zip((untyped.restype, *untyped.argtypes), (typed.restype, *typed.argtypes), strict=True):
            assert kind is (ctypes.c_void_p if hasattr(original, "contents") else original)


def test_a_status_is_an_address_or_none(rt: oc.Runtime) -> None:
    quick, out = rt.native.quick, ctypes.c_void_p()
    assert quick.CreateSessionOptions(ctypes.byref(out)) is None
    status = quick.SetSessionGraphOptimizationLevel(out, 12345)
    assert type(status) is int
    error = rt.native.statuses.error_at(status, "SetSessionGraphOptimizationLevel")
    assert error.code == raw.OrtErrorCode.ORT_INVALID_ARGUMENT
    quick.ReleaseSessionOptions(out)


def test_a_function_is_made_once_and_an_unknown_one_is_an_error(rt: oc.Runtime) -> None:
    assert rt.native.quick is rt.native.quick
    assert rt.native.quick.Run is rt.native.quick.Run
    with pytest.raises(AttributeError, match="OrtApi has no function 'Runn'; did you mean Run"):
        _ = rt.native.quick.Runn
