"""OrtValues to Python: arrays, lists, dicts."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..core.native import Native
from ..errors import InputError
from .sparse import read_sparse
from .tensor import Result, read_tensor
from .typeinfo import Kind

__all__ = ["has_value", "kind_of", "read"]


def has_value(native: Native, value: int) -> bool:
    """Is there something in the OrtValue at that address? ORT ends the process when it is asked for the type of
    nothing."""
    has = ctypes.c_int()
    native.quick.HasValue(value, ctypes.byref(has))
    return bool(has.value)


def kind_of(native: Native, value: int) -> int:
    """The ONNXType of the OrtValue at that address; unknown for an optional without a value."""
    if not has_value(native, value):
        return Kind.ONNX_TYPE_UNKNOWN
    out = ctypes.c_int()
    native.quick.GetValueType(value, ctypes.byref(out))
    return Kind(out.value)


def read(native: Native, value: int, owner: Any, *, writeable: bool = True) -> Any:
    """The OrtValue at that address for Python.

    Args:
        owner: keeps the OrtValue there; an array over its memory holds it.
        writeable: may the array be written to?

    Raises:
        InputError: it has no form in Python, or is in a device's memory.
    """
    match kind_of(native, value):
        case Kind.ONNX_TYPE_UNKNOWN:
            return None
        case Kind.ONNX_TYPE_TENSOR:
            _check_on_cpu(native, value)
            return read_tensor(native, value, owner, writeable=writeable)
        case Kind.ONNX_TYPE_SEQUENCE:
            return [read(native, item.address, item) for item in _items(native, value)]
        case Kind.ONNX_TYPE_MAP:
            keys, values = (read_tensor(native, item.address, item) for item in _items(native, value, 2))
            return dict(zip(keys.tolist(), values.tolist(), strict=True))
        case Kind.ONNX_TYPE_SPARSETENSOR:
            return read_sparse(native, value, owner)  # ORT does not say where its memory is
        case kind:
            raise InputError(
                f"a value of type {Kind(kind).name} has no form in Python; read it through the C functions"
            )


def _check_on_cpu(native: Native, value: int) -> None:
    """Memory of a device is not ours to read."""
    info, device = ctypes.c_void_p(), ctypes.c_int()
    status = native.quick.GetTensorMemoryInfo(value, ctypes.byref(info))
    if status:
        raise native.statuses.error_at(status, "GetTensorMemoryInfo")
    native.quick.MemoryInfoGetDeviceType(info, ctypes.byref(device))
    if device.value == raw.OrtMemoryInfoDeviceType.OrtMemoryInfoDeviceType_CPU:
        return
    reachable = raw.OrtDeviceMemoryType.OrtDeviceMemoryType_HOST_ACCESSIBLE
    tells = native.api.raw.holds("MemoryInfoGetDeviceMemType")  # since 1.23
    if not tells or native.quick.MemoryInfoGetDeviceMemType(info) != reachable:
        raise InputError("this tensor is in a device's memory: bind the output to the CPU to read it")


def _items(native: Native, value: int, count: int | None = None) -> list[Result]:
    if count is None:
        size = ctypes.c_size_t()
        status = native.quick.GetValueCount(value, ctypes.byref(size))
        if status:
            raise native.statuses.error_at(status, "GetValueCount")
        count = size.value
    items = []
    for index in range(count):
        out = ctypes.c_void_p()
        status = native.quick.GetValue(value, index, native.cpu_allocator, ctypes.byref(out))
        if status:
            raise native.statuses.error_at(status, "GetValue")
        items.append(Result(out.value or 0, native.quick.ReleaseValue))
    return items
