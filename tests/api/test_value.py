"""Values: every element type bit for bit in both directions, every layout, and whose memory it is."""

from __future__ import annotations

import copy
import ctypes
import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hn

import ortcache as oc
from ortcache import raw
from ortcache.api.element import STRING, Element, element

from ..support.process import run_python

#: ORT has no tensors of these.
COMPLEX = [element(14), element(15)]
PLAIN = [
    item
    for code in raw.ONNXTensorElementDataType
    if code and (item := element(int(code))).plain and item not in COMPLEX
]


def _name(item: Element) -> str:
    return item.name


#: The version from which on ORT has tensors of an element type, for those that not all tested libraries have.
SINCE = {23: 24, 24: 24, 25: 24, 26: 27}


def _is_there(rt: oc.Runtime, item: Element) -> bool:
    if rt.native.library_api_version >= SINCE.get(item.code, 0):
        return True
    with pytest.raises((oc.InputError, oc.OrtError), match=r"has no tensors of|is not supported"):
        rt.value(np.zeros(2, item.dtype))
    return False


def _odd_bits(item: Element) -> Any:
    """Every kind of bit pattern: NaNs with payloads, -0, denormals, extremes."""
    size = item.dtype.itemsize
    patterns = [0, 1, (1 << 8 * size) - 1, 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1]
    patterns += [int.from_bytes(bytes(range(seed, seed + size)), "little") for seed in range(0, 240, 7)]
    data = b"".join((pattern % (1 << 8 * size)).to_bytes(size, "little") for pattern in patterns)
    if item.name == "bool":
        data = bytes(byte & 1 for byte in data)
    return np.frombuffer(data, np.uint8).copy().view(item.dtype)


@pytest.mark.parametrize("item", PLAIN, ids=_name)
def test_every_bit_pattern_comes_back(rt: oc.Runtime, item: Element) -> None:
    if not _is_there(rt, item):
        return
    array = _odd_bits(item)
    value = rt.value(array)
    back = value.numpy()
    assert back.dtype == item.dtype and back.tobytes() == array.tobytes()
    assert (value.type, value.shape) == (f"tensor({item.name})", array.shape)


@pytest.mark.parametrize("item", PLAIN, ids=_name)
def test_memory_is_shared_in_both_directions(rt: oc.Runtime, item: Element) -> None:
    if not _is_there(rt, item):
        return
    array = np.zeros((2, 3), item.dtype)
    value = rt.value(array)
    back = value.numpy()
    assert np.shares_memory(back, array) and back.ctypes.data == array.ctypes.data
    array.view(np.uint8)[:] = 1
    assert back.tobytes() == array.tobytes()
    back.view(np.uint8)[:] = 0
    assert not array.tobytes().strip(b"\0")
    address = ctypes.c_void_p()
    rt.api.GetTensorMutableData(value, ctypes.byref(address))
    assert address.value == array.ctypes.data


@pytest.mark.parametrize("item", COMPLEX, ids=_name)
def test_what_ort_has_no_tensors_of_is_its_error(rt: oc.Runtime, item: Element) -> None:
    with pytest.raises(oc.OrtError, match=f"tensor type {item.code} is not supported"):
        rt.value(np.zeros(2, item.dtype))


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1, 1), (5,), (2, 3, 4), (1,) * 20])
@pytest.mark.parametrize("code", [1, 7, 9, 11, 16, 22, 23, STRING])
def test_every_shape(rt: oc.Runtime, shape: tuple[int, ...], code: int) -> None:
    item = element(code)
    if not _is_there(rt, item):
        return
    array = np.full(shape, "é", object) if code == STRING else np.ones(shape, item.dtype)
    value = rt.value(array)
    back = value.numpy()
    assert (value.shape, back.shape, back.dtype) == (shape, shape, item.dtype)
    assert back.tolist() == array.tolist()


def _layouts() -> dict[str, Any]:
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    unaligned = np.frombuffer(b"\0" + base.tobytes(), np.uint8)[1:].view(np.float32)
    read_only = base.copy()
    read_only.flags.writeable = False
    return {
        "C order": base,
        "Fortran order": np.asfortranarray(base),
        "transposed": base.T,
        "every second": base[::2, ::3],
        "backwards": base[::-1],
        "backwards in both": base[::-1, ::-1],
        "broadcast": np.broadcast_to(base[0], (4, 6)),
        "one number, broadcast": np.broadcast_to(np.float32(7), (3, 3)),
        "byte-swapped": base.astype(">f4"),
        "byte-swapped, 0-d": np.array(1.5, ">f4"),
        "unaligned": unaligned,
        "read-only": read_only,
        "a field of records": np.rec.fromarrays([base.ravel(), base.ravel()], names="a,b")["a"],
        "a window": np.lib.stride_tricks.sliding_window_view(base[0], 3),
        "a slice that is contiguous": base[1:3],
        "a new axis": base[:, None],
        "empty and strided": base[:0, ::2],
    }


@pytest.mark.parametrize("layout", _layouts())
def test_every_layout_has_the_same_content(rt: oc.Runtime, layout: str) -> None:
    array = _layouts()[layout]
    before = array.tobytes()
    back = rt.value(array).numpy()
    assert (back.shape, back.dtype) == (array.shape, np.dtype("f4"))
    assert back.tolist() == array.tolist()
    assert array.tobytes() == before
    usable = array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative and array.size
    assert np.shares_memory(back, array) == bool(usable)


@given(array=hn.arrays(st.sampled_from(["f4", "i8", "?", "f2", "f8", ">u4"]), hn.array_shapes(min_dims=0, min_side=0)))
def test_any_array_comes_back(rt: oc.Runtime, array: Any) -> None:
    back = rt.value(array).numpy()
    assert back.shape == array.shape and back.dtype == array.dtype.newbyteorder("=")
    assert back.tobytes() == array.astype(back.dtype).tobytes()


def test_memory_that_was_read_only_stays_so(rt: oc.Runtime) -> None:
    array = np.frombuffer(b"\0\0\x80?" * 3, np.float32)
    back = rt.value(array).numpy()
    assert back.ctypes.data == array.ctypes.data
    with pytest.raises(ValueError, match="read-only"):
        back[0] = 2
    assert rt.value(array.reshape(3, 1)[::-1]).numpy().flags.writeable  # a copy is the caller's


def test_the_small_types_are_copies(rt: oc.Runtime) -> None:
    array = np.array([1, 2, 3], element(22).dtype)
    value = rt.value(array)
    value.numpy().view(np.uint8)[:] = 0
    assert value.numpy().tolist() == [1, 2, 3]


@pytest.mark.parametrize("code", [21, 22, 23, 24, 25, 26])
def test_the_newest_types_are_what_they_were_made_as(rt: oc.Runtime, code: int) -> None:
    item = element(code)
    if _is_there(rt, item):
        array = np.array([1, 1, 1], np.uint8).astype(item.dtype)
        assert rt.value(array).type == f"tensor({item.name})"
        assert rt.value(array).numpy().tobytes() == array.tobytes()


def test_numbers_and_lists(rt: oc.Runtime) -> None:
    assert rt.value([1.5, 2]).type == "tensor(double)"
    assert rt.value(3).numpy().tolist() == 3 and rt.value(3).type == "tensor(int64)"
    assert rt.value(True).type == "tensor(bool)"
    assert rt.value("text").numpy().tolist() == "text"
    with pytest.raises(oc.InputError, match="no ONNX element type"):
        rt.value(np.zeros(2, "M8[s]"))
    with pytest.raises(TypeError, match="a Value already"):
        rt.value(rt.value(1))


def test_a_value_is_what_numpy_takes_for_an_array(rt: oc.Runtime) -> None:
    array = np.arange(3, dtype=np.float32)
    value = rt.value(array)
    assert np.asarray(value).ctypes.data == array.ctypes.data
    assert np.asarray(value, np.float64).tolist() == [0, 1, 2]
    copied = np.array(value)
    copied[0] = 9
    assert array[0] == 0
    assert np.add(value, 1).tolist() == [1, 2, 3]


def test_it_says_what_it_is(rt: oc.Runtime) -> None:
    value = rt.value(np.zeros((2, 3), np.float16))
    assert repr(value) == "<ortcache.Value tensor(float16) [2, 3]>"
    assert value.kind == raw.ONNXType.ONNX_TYPE_TENSOR and value.info.shape == (2, 3)
    value.close()
    assert repr(value) == "<ortcache.Value, closed>"


def test_it_is_closed_for_good_and_neither_copied_nor_pickled(rt: oc.Runtime) -> None:
    value = rt.value([1.0])
    for copied in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="not copied or pickled"):
            copied(value)
    value.close()
    value.close()
    for use in (value.numpy, lambda: value.shape, lambda: value.kind, lambda: value.type, lambda: np.asarray(value)):
        with pytest.raises(oc.ClosedError, match="this Value is closed"):
            use()


def test_without_ml_dtypes_the_floats_are_their_bits() -> None:
    code = """
        import json, sys
        sys.modules["ml_dtypes"] = None
        import numpy as np, ortcache as oc
        from ortcache.api.element import element
        from ortcache.api.value import Value
        rt = oc.load()
        found = {}
        for code, bits in ((16, "uint16"), (17, "uint8"), (20, "uint8")):
            array = np.arange(7, dtype=bits)
            value = Value.from_numpy(rt.native, array, element(code))
            found[value.type] = value.numpy().dtype.name, value.numpy().tolist() == array.tolist()
        print(json.dumps(found))
    """
    assert json.loads(run_python(code)) == {
        "tensor(bfloat16)": ["uint16", True],
        "tensor(float8e4m3fn)": ["uint8", True],
        "tensor(float8e5m2fnuz)": ["uint8", True],
    }
