"""Elements of less than a byte: against bits put together one by one, for odd counts too."""

from __future__ import annotations

import json
import math

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ortcache as oc
from ortcache.api.element import Element, element
from ortcache.api.packed import pack, packed_size, unpack

from ..support.process import run_python

PACKED = [element(code) for code in (21, 22, 23, 24, 25)]
INTEGERS = [item for item in PACKED if item.bits_dtype is None]


def _by_hand(codes: list[int], bits: int) -> bytes:
    """The bytes that C has for these codes, lowest bits first."""
    whole = sum(code << (place * bits) for place, code in enumerate(codes))
    return whole.to_bytes(math.ceil(len(codes) * bits / 8), "little")


def _range(item: Element) -> tuple[int, int]:
    signed = item.name.startswith("int")
    return (-(1 << (item.bits - 1)), (1 << (item.bits - 1)) - 1) if signed else (0, (1 << item.bits) - 1)


@pytest.mark.parametrize("item", PACKED, ids=lambda item: item.name)
@given(data=st.data())
def test_packing_makes_the_bytes_of_c_and_unpacking_gives_the_codes_back(item: Element, data: st.DataObject) -> None:
    codes = data.draw(st.lists(st.integers(0, (1 << item.bits) - 1), max_size=40))
    array = unpack(np.frombuffer(_by_hand(codes, item.bits), np.uint8), (len(codes),), item)
    assert array.dtype == item.dtype
    assert (array.view(np.uint8) & ((1 << item.bits) - 1)).tolist() == codes
    packed = pack(array, item)
    assert packed.tobytes() == _by_hand(codes, item.bits)
    assert len(packed) == packed_size(array.shape, item)


@pytest.mark.parametrize("item", INTEGERS, ids=lambda item: item.name)
@given(data=st.data())
def test_integers_keep_their_values(item: Element, data: st.DataObject) -> None:
    low, high = _range(item)
    values = data.draw(st.lists(st.integers(low, high), max_size=20))
    packed = pack(np.array(values, np.int64), item)
    assert unpack(packed, (len(values),), item).astype(np.int64).tolist() == values


@pytest.mark.parametrize("item", INTEGERS, ids=lambda item: item.name)
def test_an_integer_out_of_range_is_refused(item: Element) -> None:
    low, high = _range(item)
    for bad in (low - 1, high + 1):
        with pytest.raises(oc.InputError, match=f"holds {low} to {high}; the array goes from {min(0, bad)} to"):
            pack(np.array([0, bad], np.int64), item)


@pytest.mark.parametrize("item", PACKED, ids=lambda item: item.name)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (1,), (3,), (2, 3), (3, 5, 7)])
def test_every_shape_comes_back(item: Element, shape: tuple[int, ...]) -> None:
    count = math.prod(shape)
    array = (np.arange(count, dtype=np.uint8) % 2).reshape(shape).astype(item.dtype)
    back = unpack(pack(array, item), shape, item)
    assert back.shape == shape
    assert back.view(np.uint8).tolist() == array.view(np.uint8).tolist() if count else back.size == 0


def test_the_floats_of_four_bits_are_the_packages() -> None:
    values = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -6.0]
    array = np.array(values).astype(ml_dtypes.float4_e2m1fn)
    back = unpack(pack(array, element(23)), (10,), element(23))
    assert back.astype(float).tolist() == values
    assert np.signbit(back.astype(float)[8])


def test_a_layout_that_is_not_contiguous_is_packed_in_its_own_order() -> None:
    array = np.arange(12, dtype=np.int8).reshape(3, 4) % 8
    assert pack(array.T, element(22)).tobytes() == pack(np.ascontiguousarray(array.T), element(22)).tobytes()
    assert pack(array[:, ::-1], element(21)).tobytes() == pack(array[:, ::-1].copy(), element(21)).tobytes()


def test_without_ml_dtypes_integers_and_bits_come_back_the_same() -> None:
    code = """
        import json, sys
        sys.modules["ml_dtypes"] = None
        import numpy as np
        from ortcache.api.element import element
        from ortcache.api.packed import pack, unpack
        found = {}
        for number in (21, 22, 23, 24, 25):
            item = element(number)
            signed = item.name.startswith("int")
            values = np.arange(1 << item.bits).astype(item.dtype) - (1 << item.bits - 1 if signed else 0)
            back = unpack(pack(values.astype(item.dtype), item), values.shape, item)
            found[item.name] = back.tolist() == values.tolist(), back.dtype.name
        print(json.dumps(found))
    """
    assert json.loads(run_python(code)) == {
        "uint4": [True, "uint8"],
        "int4": [True, "int8"],
        "float4e2m1": [True, "uint8"],
        "uint2": [True, "uint8"],
        "int2": [True, "int8"],
    }
