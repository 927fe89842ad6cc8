"""Tensor element types and their numpy dtypes.

bfloat16, the float8 family and the 4- and 2-bit types have dtypes in the package ml_dtypes. Without it the floats
appear as their bits (uint16, uint8) and the small integers as int8 and uint8.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError

__all__ = ["PROTO", "STRING", "Element", "element", "element_of", "is_text", "known_element"]

#: The code of the one element type that is no number.
STRING = 8


@dataclass(frozen=True)
class Element:
    """One ONNXTensorElementDataType.

    Attributes:
        code: its value in C.
        name: as type strings write it: ``tensor(name)``.
        dtype: what numpy holds it as; object for strings.
        bits: bits an element in ORT's memory.
        bits_dtype: for a float that numpy itself lacks: the unsigned integer that is taken for its bits.
        typestr: the dtype of the memory as numpy's array interface writes it; bits where it has no name for the dtype.
        packed: do several elements share a byte?
        plain: can numpy use ORT's memory as it is?
    """

    code: int
    name: str
    dtype: np.dtype[Any]
    bits: int
    bits_dtype: np.dtype[Any] | None
    typestr: str
    packed: bool
    plain: bool


#: C's numbers that are not those of ONNX's own TensorProto.DataType, to these.
PROTO = {24: 25, 25: 26, 26: 24}

#: (code, name, numpy or ml_dtypes name, dtype without ml_dtypes, bits)
_TABLE = (
    (1, "float", "float32", "", 32),
    (2, "uint8", "uint8", "", 8),
    (3, "int8", "int8", "", 8),
    (4, "uint16", "uint16", "", 16),
    (5, "int16", "int16", "", 16),
    (6, "int32", "int32", "", 32),
    (7, "int64", "int64", "", 64),
    (STRING, "string", "object", "", 64),
    (9, "bool", "bool", "", 8),
    (10, "float16", "float16", "", 16),
    (11, "double", "float64", "", 64),
    (12, "uint32", "uint32", "", 32),
    (13, "uint64", "uint64", "", 64),
    (14, "complex64", "complex64", "", 64),
    (15, "complex128", "complex128", "", 128),
    (16, "bfloat16", "bfloat16", "uint16", 16),
    (17, "float8e4m3fn", "float8_e4m3fn", "uint8", 8),
    (18, "float8e4m3fnuz", "float8_e4m3fnuz", "uint8", 8),
    (19, "float8e5m2", "float8_e5m2", "uint8", 8),
    (20, "float8e5m2fnuz", "float8_e5m2fnuz", "uint8", 8),
    (21, "uint4", "uint4", "uint8", 4),
    (22, "int4", "int4", "int8", 4),
    (23, "float4e2m1", "float4_e2m1fn", "uint8", 4),
    (24, "uint2", "uint2", "uint8", 2),
    (25, "int2", "int2", "int8", 2),
    (26, "float8e8m0", "float8_e8m0fnu", "uint8", 8),
)


@functools.cache
def _elements() -> tuple[dict[int, Element], dict[np.dtype[Any], Element]]:
    try:
        import ml_dtypes
    except ImportError:
        ml_dtypes = None  # type: ignore[assignment]
    by_code: dict[int, Element] = {}
    by_dtype: dict[np.dtype[Any], Element] = {}
    for code, name, dtype_name, bits_name, bits in _TABLE:
        own = getattr(ml_dtypes, dtype_name, None) if bits_name else dtype_name
        dtype = np.dtype(own if own is not None else bits_name)
        packed = bits < 8
        bits_dtype = np.dtype(bits_name) if bits_name and "float" in name else None
        typestr = (dtype if bits_dtype is None else bits_dtype).str
        item = Element(code, name, dtype, bits, bits_dtype, typestr, packed, not packed and code != STRING)
        by_code[code] = item
        if own is not None:  # bits alone do not tell what they are bits of
            by_dtype[dtype] = item
    return by_code, by_dtype


def known_element(code: int) -> Element | None:
    """The element type with that value in C; None for one that is not known here, such as a newer library's."""
    return _elements()[0].get(code)


def element(code: int) -> Element:
    """The same, where it has to be known.

    Raises:
        InputError: it is not.
    """
    found = known_element(code)
    if found is None:
        raise InputError(f"element type {code} is not one that this version of ortcache knows")
    return found


def element_of(dtype: np.dtype[Any]) -> Element:
    """The element type that a numpy array of that dtype is.

    Raises:
        InputError: ONNX has no such type.
    """
    if is_text(dtype):
        return element(STRING)
    found = _elements()[1].get(dtype.newbyteorder("=") if dtype.byteorder in "<>" else dtype)
    if found is None:
        raise InputError(f"no ONNX element type holds numpy's {dtype}; convert the array, for instance to float32")
    return found


def is_text(dtype: np.dtype[Any]) -> bool:
    """Is it one of the dtypes that become a string tensor?"""
    return dtype.kind in "OUST"
