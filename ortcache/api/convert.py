"""Feeds: what a user gives for an input of a known type, to an OrtValue."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import raw
from ..core.marshal import pointers
from ..core.native import Native
from ..errors import InputError, OrtcacheError
from .nothing import empty_sequence, nothing
from .typeinfo import Kind, TypeInfo, ValueInfo
from .value import Value

__all__ = ["feed_value", "to_value"]


def feed_value(native: Native, info: ValueInfo, data: Any) -> Value:
    """The OrtValue for one input.

    Args:
        data: a `Value`; for a tensor an array or what numpy can make one of; for a sequence a list; for a map a dict;
            for an optional any of those, or None.

    Raises:
        InputError: it cannot be the input's type; the message names the input.
        TypeError: it is of no such kind at all.
    """
    try:
        return to_value(native, info.info, data)
    except (OrtcacheError, TypeError) as error:
        error.args = (f"input {info.name!r}: {error}",)
        raise


def to_value(native: Native, info: TypeInfo, data: Any) -> Value:
    if isinstance(data, Value):
        return data
    match info.kind:
        case Kind.ONNX_TYPE_TENSOR:
            return _tensor(native, info, data)
        case Kind.ONNX_TYPE_SEQUENCE:
            return _sequence(native, info, data)
        case Kind.ONNX_TYPE_MAP:
            return _map(native, info, data)
        case Kind.ONNX_TYPE_OPTIONAL:
            assert info.contained is not None
            return nothing(native, info.contained) if data is None else to_value(native, info.contained, data)
    raise InputError(f"it is {info}, which has no form in Python here; make the OrtValue through the C functions")


def _tensor(native: Native, info: TypeInfo, data: Any) -> Value:
    if data is None:
        raise TypeError(f"it is {info}: None is no tensor")
    if isinstance(data, Mapping):
        raise TypeError(f"it is {info}: a dict is no tensor")
    return Value.from_numpy(native, data, info.element)


def _sequence(native: Native, info: TypeInfo, data: Any) -> Value:
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, (Sequence, np.ndarray)):
        raise TypeError(f"it is {info}: give a list, not {type(data).__name__}")
    assert info.contained is not None
    if not len(data):
        return empty_sequence(native, info.contained)
    items = [to_value(native, info.contained, item) for item in data]
    return _compose(native, items, Kind.ONNX_TYPE_SEQUENCE)


def _map(native: Native, info: TypeInfo, data: Any) -> Value:
    if not isinstance(data, Mapping):
        raise TypeError(f"it is {info}: give a dict, not {type(data).__name__}")
    assert info.contained is not None and info.element is not None
    keys = Value.from_numpy(native, list(data.keys()), info.element)
    values = Value.from_numpy(native, list(data.values()), info.contained.element)
    return _compose(native, [keys, values], Kind.ONNX_TYPE_MAP)


def _compose(native: Native, items: list[Value], kind: int) -> Value:
    """A sequence or map; ORT copies what it is made of."""
    out = ctypes.POINTER(raw.OrtValue)()
    native.api.CreateValue(pointers(raw.OrtValue, items), len(items), kind, ctypes.byref(out))
    return Value(native, out, keep=tuple(items))
