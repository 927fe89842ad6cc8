"""Sparse tensors, as the C functions make them, read."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.sparse import SparseTensor


def _ints(*values: int) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def _empty(rt: oc.Runtime, code: int = 1) -> Any:
    """A sparse tensor of shape (3, 4) with nothing in it yet."""
    out = ctypes.POINTER(raw.OrtValue)()
    rt.api.CreateSparseTensorAsOrtValue(rt.native.cpu_allocator, _ints(3, 4), 2, code, ctypes.byref(out))
    return out


def _filled(rt: oc.Runtime, form: str) -> oc.Value:
    out, values = _empty(rt), np.array([1, 2, 3], np.float32)
    common = out, rt.native.cpu_memory, _ints(3), 1, values.ctypes.data
    if form == "flat":
        rt.api.FillSparseTensorCoo(*common, _ints(0, 5, 11), 3)
    elif form == "pairs":
        rt.api.FillSparseTensorCoo(*common, _ints(0, 0, 1, 1, 2, 3), 6)
    else:
        rt.api.FillSparseTensorCsr(*common, _ints(0, 1, 3), 3, _ints(0, 1, 2, 3), 4)
    return oc.Value(rt.native, out)


@pytest.mark.parametrize(
    ("form", "name", "indices"),
    [
        ("flat", "coo", [[0, 5, 11]]),
        ("pairs", "coo", [[[0, 0], [1, 1], [2, 3]]]),
        ("csr", "csr", [[0, 1, 3], [0, 1, 2, 3]]),
    ],
)
def test_values_and_indices_are_there(rt: oc.Runtime, form: str, name: str, indices: Any) -> None:
    value = _filled(rt, form)
    found = value.numpy()
    assert isinstance(found, SparseTensor)
    assert (found.format, found.shape) == (name, (3, 4))
    assert found.values.tolist() == [1, 2, 3] and found.values.dtype == np.float32
    assert [part.tolist() for part in found.indices] == indices
    assert value.type == "sparse_tensor(float)" and repr(value) == "<ortcache.Value sparse_tensor(float)>"


def test_the_arrays_are_read_only_and_outlive_the_value(rt: oc.Runtime) -> None:
    value = _filled(rt, "flat")
    found = value.numpy()
    value.close()
    del value
    assert found.values.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 9


def test_one_that_was_never_filled_is_an_error(rt: oc.Runtime) -> None:
    with pytest.raises(oc.InputError, match="never filled"):
        oc.Value(rt.native, _empty(rt)).numpy()


def test_strings_are_refused(rt: oc.Runtime) -> None:
    with pytest.raises(oc.InputError, match="sparse tensor of strings"):
        oc.Value(rt.native, _empty(rt, 8)).numpy()
