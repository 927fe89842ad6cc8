"""The memory of tensors, shared with numpy arrays in both directions."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

from ..core.handle import Owned
from ..core.marshal import int64_array
from ..core.native import Native
from ..errors import InputError
from .element import PROTO, STRING, Element, element
from .packed import packed_size, unpack
from .text import read_strings

__all__ = ["Result", "address_array", "address_of", "describe", "read_tensor", "shared_array", "tensor_over"]

#: The type of a C array of that many addresses: kept, since ctypes would make it again and again.
address_array = functools.lru_cache(maxsize=256)(lambda count: ctypes.c_void_p * count)

_dimensions = functools.lru_cache(maxsize=1024)(int64_array)  # C only reads them
_LAST_OF_ONE_NUMBER = min(PROTO) - 1
_codes: dict[tuple[int, int], int] = {}  # by library and element type
_Sizes = ctypes.POINTER(ctypes.c_int64)


def tensor_over(native: Native, array: Any, shape: tuple[int, ...], code: int) -> int:
    """The address of a new OrtValue that points into an array; whoever holds it must hold the array too.

    Args:
        array: C-contiguous, aligned, in this machine's byte order.
        shape: the tensor's, which is not the array's where several elements share a byte.
        code: the element type's value in C.
    """
    if code > _LAST_OF_ONE_NUMBER:
        code = _code_for(native, code)
    quick, out = native.quick, ctypes.c_void_p()
    status = quick.CreateTensorWithDataAsOrtValue(
        native.cpu_memory, address_of(array), array.nbytes, _dimensions(shape), len(shape), code, ctypes.byref(out)
    )
    if status:
        raise native.statuses.error_at(status, "CreateTensorWithDataAsOrtValue")
    return out.value or 0


def _code_for(native: Native, code: int) -> int:
    """What to ask this library for, to get a tensor of an element type of the last three.

    In libraries up to 1.29 the function that makes tensors takes ONNX's own numbers for these, where all others take
    C's.
    """
    found = _codes.get((native.base, code))
    if found is None:
        found = next((number for number in (code, PROTO[code]) if _makes(native, number) == code), 0)
        _codes[native.base, code] = found
    if not found:
        raise InputError(f"{native.description} has no tensors of {element(code).name}; a newer one has")
    return found


def _makes(native: Native, number: int) -> int:
    """The element type of the tensor that this library makes for a number."""
    memory, out, dims = ctypes.c_uint64(), ctypes.c_void_p(), _dimensions((1,))
    status = native.quick.CreateTensorWithDataAsOrtValue(
        native.cpu_memory, ctypes.byref(memory), 1, dims, 1, number, ctypes.byref(out)
    )
    if status:
        native.statuses.error_at(status, "CreateTensorWithDataAsOrtValue")  # releases it
        return 0
    made = Owned(out.value or 0, native.quick.ReleaseValue)
    return describe(native, made.address)[0].code


def address_of(array: Any) -> int:
    try:  # a third of what numpy's own way takes
        return ctypes.addressof(ctypes.c_char.from_buffer(array))
    except (TypeError, ValueError):  # it is read-only or empty, or the dtype has no buffers
        return int(array.ctypes.data)


class Result(Owned):
    """An OrtValue that a run made, and what the array over its memory is made from and then holds."""

    __slots__ = ("__array_interface__",)


class _Memory:
    """The same for memory that something else owns."""

    __slots__ = ("__array_interface__", "owner")

    def __init__(self, owner: Any) -> None:
        self.owner = owner


def shared_array(owner: Any, address: int, shape: tuple[int, ...], item: Element, *, writeable: bool = True) -> Any:
    """An array over memory that lasts as long as ``owner``."""
    if not address or 0 in shape:
        return np.empty(shape, item.dtype)
    memory: Any = owner if owner.__class__ is Result else _Memory(owner)
    memory.__array_interface__ = {
        "version": 3, "data": (address, not writeable), "shape": shape, "typestr": item.typestr
    }  # fmt: skip
    array = np.asarray(memory)
    return array if item.bits_dtype is None else array.view(item.dtype)


def describe(native: Native, value: int) -> tuple[Element, tuple[int, ...]]:
    """Element type and shape of the tensor at that address."""
    quick, code, rank = native.quick, ctypes.c_int(), ctypes.c_size_t()
    if native.api_version >= 24:
        sizes = _Sizes()
        status = quick.GetTensorElementTypeAndShapeDataReference(
            value, ctypes.byref(code), ctypes.byref(sizes), ctypes.byref(rank)
        )
        if status:
            raise native.statuses.error_at(status, "GetTensorElementTypeAndShapeDataReference")
        return element(code.value), tuple(sizes[: rank.value])
    info = ctypes.c_void_p()
    status = quick.GetTensorTypeAndShape(value, ctypes.byref(info))
    if status:
        raise native.statuses.error_at(status, "GetTensorTypeAndShape")
    try:
        quick.GetTensorElementType(info, ctypes.byref(code))
        quick.GetDimensionsCount(info, ctypes.byref(rank))
        dims = (ctypes.c_int64 * rank.value)()
        quick.GetDimensions(info, dims, rank)
        return element(code.value), tuple(dims)
    finally:
        quick.ReleaseTensorTypeAndShapeInfo(info)


def read_tensor(native: Native, value: int, owner: Any, *, writeable: bool = True) -> Any:
    """The tensor at that address as an array, which holds ``owner``; strings and packed types are copied."""
    item, shape = describe(native, value)
    if item.code == STRING:
        return read_strings(native, value, shape)
    data = ctypes.c_void_p()
    status = native.quick.GetTensorMutableData(value, ctypes.byref(data))
    if status:
        raise native.statuses.error_at(status, "GetTensorMutableData")
    if item.packed:
        bytes_ = shared_array(owner, data.value or 0, (packed_size(shape, item),), element(2))
        return unpack(bytes_, shape, item)
    return shared_array(owner, data.value or 0, shape, item, writeable=writeable)
