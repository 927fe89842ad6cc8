"""What may be given for a tensor, and what is refused: no value changes in silence."""

from __future__ import annotations

import array
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import ortcache as oc
from ortcache.api.arrays import as_array
from ortcache.api.element import Element, element

from ..support.process import run_python

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL, DOUBLE = (element(code) for code in (1, 2, 3, 6, 7, 8, 9, 11))
UINT64, COMPLEX64, BFLOAT16, UINT4, INT4, FLOAT4 = (element(code) for code in (13, 14, 16, 21, 22, 23))


@pytest.mark.parametrize("kind", [np.float32, np.float64, np.int8, np.uint64, bool, np.complex64, ml_dtypes.bfloat16])
def test_an_array_stays_itself(kind: Any) -> None:
    given = np.zeros((2, 3), kind)
    found, item = as_array(given, None)
    assert found is given and item.dtype == given.dtype
    assert as_array(given, item)[0] is given


@pytest.mark.parametrize("target", [FLOAT, INT64, STRING, BOOL, BFLOAT16, INT4])
@pytest.mark.parametrize("kind", [np.float64, np.float16, np.int32, np.uint16])
def test_an_array_of_another_dtype_is_refused_with_both_types_named(target: Element, kind: Any) -> None:
    if (target, kind) in ((BFLOAT16, np.uint16), (INT4, np.int32), (INT4, np.uint16)):
        return  # bits, and small integers
    given = np.ones(2, kind)
    with pytest.raises(oc.InputError) as caught:
        as_array(given, target)
    text = str(caught.value)
    assert f"must be tensor({target.name})" in text and np.dtype(kind).name in text
    assert ("astype" in text) == (target is not STRING)


def test_float64_is_not_taken_for_no_dtype() -> None:
    # numpy: dtype("float64") == None
    for target in (FLOAT, INT64, UINT4):
        with pytest.raises(oc.InputError, match=r"array of float64 is tensor\(double\)"):
            as_array(np.ones(2), target)


def test_the_other_byte_order_is_the_same_type() -> None:
    given = np.ones(2, ">f4")
    for target in (FLOAT, None):
        found, item = as_array(given, target)
        assert found is given and item is FLOAT


def test_subclasses_are_taken_as_plain_arrays_and_masked_ones_are_refused(tmp_path: Any) -> None:
    matrix = np.ones((2, 2)).view(np.matrix)
    assert type(as_array(matrix, None)[0]) is np.ndarray
    mapped = np.memmap(tmp_path / "data", np.float32, "w+", shape=(3,))
    assert type(as_array(mapped, FLOAT)[0]) is np.ndarray and np.shares_memory(as_array(mapped, FLOAT)[0], mapped)
    with pytest.raises(oc.InputError, match=r"masked array is no tensor: fill it first, with \.filled"):
        as_array(np.ma.masked_array([1.0, 2.0], [True, False]), None)


def test_a_numpy_scalar_has_a_dtype_that_must_fit() -> None:
    found, item = as_array(np.float32(3), FLOAT)
    assert (found.shape, found.dtype, item) == ((), np.float32, FLOAT)
    with pytest.raises(oc.InputError, match="float64"):
        as_array(np.float64(3), FLOAT)


def test_what_offers_an_array_is_taken() -> None:
    class Offers:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.ones(2, np.float32)

    assert as_array(Offers(), FLOAT)[0].tolist() == [1, 1]
    assert as_array(array.array("f", [1, 2]), FLOAT)[0].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("data", "target", "expected"),
    [
        (1, FLOAT, 1.0),
        (1.5, FLOAT, 1.5),
        (True, INT64, 1),
        (True, FLOAT, 1.0),
        (False, BOOL, False),
        ([1, 2], FLOAT, [1.0, 2.0]),
        ((1, 2), INT32, [1, 2]),
        ([[1], [2]], DOUBLE, [[1.0], [2.0]]),
        ([255, 0], UINT8, [255, 0]),
        ([2**64 - 1], UINT64, [2**64 - 1]),
        ([1.5, 2], COMPLEX64, [1.5, 2]),
        ([1j], COMPLEX64, [1j]),
        ([], INT64, []),
        ([[], []], FLOAT, [[], []]),
        ([np.float32(1), 2], FLOAT, [1, 2]),
        ([np.ones(2, np.float32)], FLOAT, [[1, 1]]),
        ([1.5, 2.5], BFLOAT16, [1.5, 2.5]),
        ([-8, 7], INT4, [-8, 7]),
        ([0.5, 6.0], FLOAT4, [0.5, 6.0]),
        ("a", STRING, "a"),
        (["a", b"b"], STRING, ["a", b"b"]),
        ([], STRING, []),
        (float("inf"), FLOAT, float("inf")),
    ],
)
def test_pythons_numbers_and_lists_become_what_is_wanted(data: Any, target: Element, expected: Any) -> None:
    found, item = as_array(data, target)
    assert item is target
    assert found.dtype == target.dtype or (target.packed and found.dtype.kind == "i")
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("data", "target", "said"),
    [
        ([1.5], INT64, "do not fit"),
        (1.0, INT64, "do not fit"),
        ([1j], FLOAT, "do not fit"),
        ([2], BOOL, "do not fit"),
        ([300], UINT8, "0 to 255; the values go from 300 to 300"),
        ([-1], UINT8, "0 to 255"),
        ([-1], UINT64, "0 to 18446744073709551615"),
        ([2**31], INT32, "-2147483648 to 2147483647"),
        ([2**63], INT64, "to 9223372036854775807"),
        ([2**70], INT64, "makes an array of object"),
        ([2**70], FLOAT, "makes an array of object"),
        ([1e39], FLOAT, "a value is too large for"),
        (["1"], FLOAT, "makes an array of <U1"),
        ("abc", FLOAT, "makes an array of <U3"),
        ([b"1"], INT64, r"makes an array of \|S1"),
        ([None], FLOAT, "makes an array of object"),
        ([[1], [2, 3]], FLOAT, "numpy cannot make an array of this list"),
        ([Fraction(1, 2)], FLOAT, "makes an array of object"),
        ({1, 2}, FLOAT, "makes an array of object"),
    ],
)
def test_a_value_that_would_change_is_refused(data: Any, target: Element, said: str) -> None:
    with pytest.raises(oc.InputError, match=said):
        as_array(data, target)


@pytest.mark.parametrize("target", [FLOAT, INT64, BOOL, BFLOAT16])
@pytest.mark.parametrize("kind", ["U3", "S3", object])
def test_text_is_not_read_as_numbers(target: Element, kind: Any) -> None:
    with pytest.raises(oc.InputError, match=r"is tensor\(string\)"):
        as_array(np.array(["1", "2"], kind), target)


def test_numbers_do_not_become_text() -> None:
    with pytest.raises(oc.InputError, match=r"must be tensor\(string\); an array of int64"):
        as_array(np.arange(3), STRING)


def test_bits_stand_for_a_float_that_numpy_lacks() -> None:
    assert as_array(np.array([0x3F80], np.uint16), BFLOAT16)[1] is BFLOAT16
    assert as_array(np.array([7], np.uint8), FLOAT4)[1] is FLOAT4
    with pytest.raises(oc.InputError, match=r"tensor\(bfloat16\)"):
        as_array(np.array([1], np.int16), BFLOAT16)
    with pytest.raises(oc.InputError, match=r"tensor\(float4e2m1\)"):
        as_array(np.array([1], np.int64), FLOAT4)


def test_without_ml_dtypes_numbers_are_not_taken_for_bits() -> None:
    code = """
        import sys
        sys.modules["ml_dtypes"] = None
        import numpy as np
        from ortcache.errors import InputError
        from ortcache.api.arrays import as_array
        from ortcache.api.element import element
        try:
            as_array([1.0, 2.0], element(16))
        except InputError as error:
            print(error)
        print(as_array(np.array([0x3F80], np.uint16), element(16))[0].tolist(), as_array([-8], element(22))[0].tolist())
    """
    said, arrays = run_python(code).splitlines()
    assert "ml_dtypes" in said and "array of uint16 with the bits" in said
    assert arrays == "[16256] [-8]"
