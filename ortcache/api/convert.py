"""What a user gives for an input of a known type, to an OrtValue."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..core.handle import Hold
from ..core.native import Native
from ..errors import InputError, OrtcacheError
from .empty import empty_sequence
from .making import Made, make_tensor
from .typeinfo import Kind, TypeInfo, ValueInfo
from .value import Value

__all__ = ["Fed", "feed_value"]

#: The user's own, or made for this use.
Fed = Value | Made


def feed_value(native: Native, info: ValueInfo, data: Any) -> Fed:
    """The OrtValue for one input.

    Args:
        data: a `Value`; for a tensor an array or what numpy can make one of; for a sequence a list; for a map a dict;
            for an optional any of those. None, an optional without a value, has no OrtValue: it is not fed.

    Raises:
        InputError: it cannot be the input's type; the message names the input.
        TypeError: it is of no such kind at all.
    """
    try:
        return _to_value(native, info.info, data)
    except (OrtcacheError, TypeError) as error:
        error.args = (f"input {info.name!r}: {error}",)
        raise


def _to_value(native: Native, info: TypeInfo, data: Any) -> Fed:
    if isinstance(data, Value):
        return _checked(native, data)
    match info.kind:
        case Kind.ONNX_TYPE_TENSOR:
            return _tensor(native, info, data)
        case Kind.ONNX_TYPE_SEQUENCE:
            return _sequence(native, info, data)
        case Kind.ONNX_TYPE_MAP:
            return _map(native, info, data)
        case Kind.ONNX_TYPE_OPTIONAL if info.contained is not None:
            return _to_value(native, info.contained, data)
    raise InputError(f"it is {info}, which has no form in Python here; make the OrtValue through the C functions")


def _checked(native: Native, value: Value) -> Value:
    if value.native.base != native.base:
        raise InputError("this Value belongs to another ONNX Runtime library")
    if value.kind == Kind.ONNX_TYPE_UNKNOWN:
        raise InputError("this Value has nothing in it: give None for an optional without a value")
    return value


def _tensor(native: Native, info: TypeInfo, data: Any) -> Made:
    if data is None or isinstance(data, (Mapping, set, frozenset)):
        raise TypeError(f"it is {info}: {'None' if data is None else 'a ' + type(data).__name__} is no tensor")
    if info.element is None:
        raise InputError("its element type is not one that this version of ortcache knows")
    return make_tensor(native, data, info.element)


def _sequence(native: Native, info: TypeInfo, data: Any) -> Made:
    if isinstance(data, (str, bytes)) or not isinstance(data, (Sequence, np.ndarray)):
        raise TypeError(f"it is {info}: give a list, not {type(data).__name__}")
    assert info.contained is not None
    if not len(data):
        return empty_sequence(native, info.contained)
    return _compose(native, [_to_value(native, info.contained, item) for item in data], info.kind)


def _map(native: Native, info: TypeInfo, data: Any) -> Made:
    if not isinstance(data, Mapping):
        raise TypeError(f"it is {info}: give a dict, not {type(data).__name__}")
    assert info.contained is not None
    keys = make_tensor(native, list(data.keys()), info.element)
    values = make_tensor(native, list(data.values()), info.contained.element)
    return _compose(native, [keys, values], info.kind)


def _compose(native: Native, items: Sequence[Fed], kind: int) -> Made:
    """A sequence or map. ORT takes the items' tensors as they are, and so the memory that they point into."""
    keep = [Hold(item) if isinstance(item, Value) else item for item in items]
    addresses = [item.address for item in items]  # of a Value that another thread closes now, the hold keeps it
    out = ctypes.c_void_p()
    status = native.quick.CreateValue(
        (ctypes.c_void_p * len(addresses))(*addresses), len(addresses), kind, ctypes.byref(out)
    )
    if status:
        raise native.statuses.error_at(status, "CreateValue")
    return Made(native, out.value or 0, keep)
