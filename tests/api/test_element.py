"""Element types: each of C's has a name, a size and a dtype."""

from __future__ import annotations

import json

import ml_dtypes
import numpy as np
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.element import STRING, element, element_of, is_text, known_element

from ..support.process import run_python

_CODES = [int(code) for code in raw.ONNXTensorElementDataType if code]


@pytest.mark.parametrize("code", _CODES)
def test_every_element_type_of_c_is_known_by_its_own_name(code: int) -> None:
    item = element(code)
    name = raw.ONNXTensorElementDataType(code).name.removeprefix("ONNX_TENSOR_ELEMENT_DATA_TYPE_").lower()
    assert (item.code, item.name) == (code, name)
    assert item.packed == (item.bits < 8)
    assert item.plain == (not item.packed and item.code != STRING)
    assert item.dtype.itemsize == (1 if item.packed else item.bits // 8)


@pytest.mark.parametrize("code", [code for code in _CODES if code != STRING])
def test_a_dtype_leads_back_to_its_element_type(code: int) -> None:
    assert element_of(element(code).dtype) is element(code)


@pytest.mark.parametrize("code", [0, 27, 999, -1])
def test_an_element_type_that_is_not_known_is_none_or_an_error(code: int) -> None:
    assert known_element(code) is None
    with pytest.raises(oc.InputError, match=f"element type {code} is not one"):
        element(code)


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (">f4", "float"),
        ("<i8", "int64"),
        ("longlong", "int64"),
        ("ulonglong", "uint64"),
        ("intc", "int32"),
        ("?", "bool"),
        (">c16", "complex128"),
        ("U3", "string"),
        ("S3", "string"),
        ("O", "string"),
        (ml_dtypes.bfloat16, "bfloat16"),
    ],
)
def test_dtypes_by_any_name_and_in_any_byte_order(dtype: object, name: str) -> None:
    assert element_of(np.dtype(dtype)).name == name  # type: ignore[call-overload]


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[ns]", "V4", "g", [("a", "f4")], ("f4", (2,))])
def test_a_dtype_that_onnx_lacks_is_an_error_that_says_what_to_do(dtype: object) -> None:
    kind = np.dtype(dtype)  # type: ignore[call-overload]
    if kind == np.dtype("f8"):  # where a long double is a double
        return
    with pytest.raises(oc.InputError, match=r"no ONNX element type holds numpy's .*convert the array"):
        element_of(kind)


def test_numpys_own_text_is_text() -> None:
    assert is_text(np.dtype("U")) and is_text(np.dtype("S")) and is_text(np.dtype(object))
    assert not is_text(np.dtype("V4")) and not is_text(np.dtype("f4"))
    if hasattr(np.dtypes, "StringDType"):
        assert is_text(np.dtypes.StringDType())


def test_with_the_package_the_small_types_have_its_dtypes() -> None:
    assert element(16).dtype == ml_dtypes.bfloat16
    assert element(21).dtype == ml_dtypes.uint4
    assert element(16).bits_dtype == np.uint16
    assert element(17).bits_dtype == np.uint8
    assert element(22).bits_dtype is None  # an integer is its value, not its bits


def test_without_the_package_the_small_types_appear_as_bits_and_integers() -> None:
    code = """
        import json, sys
        sys.modules["ml_dtypes"] = None  # as where it is not installed
        import numpy as np
        from ortcache.api.element import element, element_of
        found = {element(code).name: element(code).dtype.name for code in range(16, 27)}
        found["of uint8"] = element_of(np.dtype("uint8")).name
        found["of uint16"] = element_of(np.dtype("uint16")).name
        found["of int8"] = element_of(np.dtype("int8")).name
        print(json.dumps(found))
    """
    assert json.loads(run_python(code)) == {
        "bfloat16": "uint16",
        "float8e4m3fn": "uint8",
        "float8e4m3fnuz": "uint8",
        "float8e5m2": "uint8",
        "float8e5m2fnuz": "uint8",
        "uint4": "uint8",
        "int4": "int8",
        "float4e2m1": "uint8",
        "uint2": "uint8",
        "int2": "int8",
        "float8e8m0": "uint8",
        "of uint8": "uint8",
        "of uint16": "uint16",
        "of int8": "int8",
    }
