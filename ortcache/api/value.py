"""OrtValues: tensors over numpy arrays in both directions, and what sequences, maps and optionals hold."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .. import raw
from ..core.handle import Handle
from ..core.marshal import int64_array
from ..core.native import Native
from ..errors import InputError
from .element import Element, element, element_of, is_text
from .packed import pack, unpack
from .text import fill_strings, read_strings
from .typeinfo import Kind, TypeInfo, read_type_info

__all__ = ["Value", "read_value"]


class Value(Handle):
    """An OrtValue.

    Memory is shared wherever the layout allows: a tensor made from a C-contiguous array points into that array, and
    the array that `numpy` gives points into the tensor. Each keeps the other alive.
    """

    _at_exit = False  # it needs nothing released in order: its memory goes with the process

    def __init__(self, native: Native, pointer: Any, *, owned: bool = True, keep: tuple[Any, ...] = ()) -> None:
        self.native = native
        super().__init__(pointer, native.api.raw.ReleaseValue if owned else None, keep=keep)

    @classmethod
    def from_numpy(cls, native: Native, data: Any, target: Element | None = None) -> Value:
        """A tensor.

        An array that is not C-contiguous or not in this machine's byte order is copied, and so are strings and types
        of less than 8 bits.

        Args:
            data: an array, or what numpy can make one of.
            target: the element type to make; None takes the array's own.

        Raises:
            InputError: ONNX has no such element type, or it is not ``target``.
        """
        array = _as_array(data, target)
        if is_text(array.dtype):
            return cls(native, _string_tensor(native, array))
        item = _checked_element(array, target)
        shape = array.shape
        if item.packed:
            array = pack(array, item)
        # order "C" and the native dtype: numpy copies only where one of them is not so already.
        array = np.ascontiguousarray(array, array.dtype.newbyteorder("=")) if array.ndim else _scalar(array)
        return cls(native, tensor_over(native, array, shape, item), keep=(array,))

    @property
    def kind(self) -> int:
        """An ONNXType: tensor, sequence, map, optional, …"""
        out = ctypes.c_int()
        self.native.api.GetValueType(self, ctypes.byref(out))
        return raw.ONNXType(out.value)

    @property
    def info(self) -> TypeInfo:
        """Its type in full."""
        out = ctypes.POINTER(raw.OrtTypeInfo)()
        self.native.api.GetTypeInfo(self, ctypes.byref(out))
        try:
            return read_type_info(self.native, out)
        finally:
            self.native.api.ReleaseTypeInfo(out)

    @property
    def type(self) -> str:
        """Its type as text, such as ``tensor(float)``."""
        return str(self.info)

    @property
    def shape(self) -> tuple[int, ...]:
        """A tensor's shape."""
        return _element_and_shape(self.native, self._pointer)[1]

    def numpy(self) -> Any:
        """The value for Python: an array for a tensor (sharing its memory), a list for a sequence, a dict for a map,
        None for an optional without a value."""
        return read_value(self.native, self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        array = np.asarray(self.numpy())
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def __repr__(self) -> str:
        if self.closed:
            return "<ortcache.Value, closed>"
        shape = f" {list(self.shape)}" if self.kind == Kind.ONNX_TYPE_TENSOR else ""
        return f"<ortcache.Value {self.type}{shape}>"


def tensor_over(native: Native, array: Any, shape: tuple[int, ...], item: Element) -> Any:
    """An OrtValue that points into a C-contiguous array; whoever holds it must hold the array too."""
    out = ctypes.POINTER(raw.OrtValue)()
    native.api.CreateTensorWithDataAsOrtValue(
        native.cpu_memory,
        array.ctypes.data,
        array.nbytes,
        int64_array(shape),
        len(shape),
        item.code,
        ctypes.byref(out),
    )
    return out


def read_value(native: Native, value: Value) -> Any:
    """What `Value.numpy` gives."""
    has = ctypes.c_int()
    native.api.HasValue(value, ctypes.byref(has))
    if not has.value:
        return None
    match value.kind:
        case Kind.ONNX_TYPE_TENSOR:
            return _read_tensor(native, value)
        case Kind.ONNX_TYPE_SEQUENCE:
            return [item.numpy() for item in _items(native, value)]
        case Kind.ONNX_TYPE_MAP:
            keys, values = (item.numpy() for item in _items(native, value, 2))
            return dict(zip(keys.tolist(), values.tolist(), strict=True))
    raise InputError(f"a value of type {value.type} has no form in Python here; read it through the C functions")


def _as_array(data: Any, target: Element | None) -> Any:
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, Value):
        raise TypeError("this is a Value already")
    if target is not None and target.name == "string":
        return np.array(data, dtype=object)
    try:
        # A list has no dtype of its own: it takes the one that is wanted. A numpy scalar has one.
        wanted = target.dtype if target is not None and not hasattr(data, "dtype") else None
        array = np.asarray(data, dtype=wanted)
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(f"numpy cannot make an array of this {type(data).__name__}: {error}") from error
    return array


def _checked_element(array: Any, target: Element | None) -> Element:
    if target is None:
        return element_of(array.dtype)
    if target.dtype == array.dtype or (target.packed and array.dtype.kind in "iu"):
        return target
    given = element_of(array.dtype)
    # `dtype == None` is true of float64 in numpy, so None is asked for first.
    if target.code == given.code or (target.bits_dtype is not None and array.dtype == target.bits_dtype):
        return target
    raise InputError(
        f"it must be tensor({target.name}); an array of {array.dtype} is tensor({given.name}): "
        f"convert it with .astype({target.dtype.name!r})"
    )


def _scalar(array: Any) -> Any:
    """ascontiguousarray makes a 0-d array 1-d."""
    native = array.dtype.newbyteorder("=")
    return array if array.dtype == native and array.flags.c_contiguous else array.astype(native)


def _string_tensor(native: Native, array: Any) -> Any:
    out = ctypes.POINTER(raw.OrtValue)()
    shape = int64_array(array.shape)
    native.api.CreateTensorAsOrtValue(native.cpu_allocator, shape, array.ndim, element(8).code, ctypes.byref(out))
    try:
        fill_strings(native, out, array)
    except BaseException:
        native.api.ReleaseValue(out)
        raise
    return out


def _element_and_shape(native: Native, pointer: Any) -> tuple[Element, tuple[int, ...]]:
    info = ctypes.POINTER(raw.OrtTensorTypeAndShapeInfo)()
    native.api.GetTensorTypeAndShape(pointer, ctypes.byref(info))
    try:
        code, rank = ctypes.c_int(), ctypes.c_size_t()
        native.api.GetTensorElementType(info, ctypes.byref(code))
        native.api.GetDimensionsCount(info, ctypes.byref(rank))
        sizes = (ctypes.c_int64 * rank.value)()
        native.api.GetDimensions(info, sizes, rank)
        return element(code.value), tuple(sizes)
    finally:
        native.api.ReleaseTensorTypeAndShapeInfo(info)


class _Memory:
    """A tensor's memory for numpy: the array made from it holds this, and this holds the tensor."""

    def __init__(self, owner: Value, address: int, shape: tuple[int, ...], typestr: str) -> None:
        self.owner = owner
        self.__array_interface__ = {"version": 3, "data": (address, False), "shape": shape, "typestr": typestr}


def _read_tensor(native: Native, value: Value) -> Any:
    item, shape = _element_and_shape(native, value._pointer)
    if item.name == "string":
        return read_strings(native, value, shape)
    _check_on_cpu(native, value)
    address = ctypes.c_void_p()
    native.api.GetTensorMutableData(value, ctypes.byref(address))
    if item.packed:
        return unpack(_bytes(value, address.value or 0, shape, item), shape, item)
    if not address.value or 0 in shape:
        return np.empty(shape, item.dtype)
    # numpy's array interface has no name for a dtype that another package added: its bits are read, and viewed.
    typestr = item.dtype.str if item.dtype.isbuiltin == 1 else f"<u{item.dtype.itemsize}"
    array = np.asarray(_Memory(value, address.value, shape, typestr))
    return array if array.dtype == item.dtype else array.view(item.dtype)


def _check_on_cpu(native: Native, value: Value) -> None:
    """Memory of a device is not ours to read."""
    info, device = ctypes.POINTER(raw.OrtMemoryInfo)(), ctypes.c_int()
    native.api.GetTensorMemoryInfo(value, ctypes.byref(info))
    native.api.MemoryInfoGetDeviceType(info, ctypes.byref(device))
    if device.value != raw.OrtMemoryInfoDeviceType.OrtMemoryInfoDeviceType_CPU:
        kind, memory = ctypes.c_int(), raw.OrtDeviceMemoryType.OrtDeviceMemoryType_HOST_ACCESSIBLE
        kind.value = native.api.MemoryInfoGetDeviceMemType(info)
        if kind.value != memory:
            raise InputError("this tensor is in a device's memory: bind the output to the CPU to read it")


def _bytes(value: Value, address: int, shape: tuple[int, ...], item: Element) -> Any:
    count = (int(np.prod(shape, dtype=np.int64)) * item.bits + 7) // 8
    return np.asarray(_Memory(value, address, (count,), "|u1")) if count else np.empty(0, np.uint8)


def _items(native: Native, value: Value, count: int | None = None) -> list[Value]:
    if count is None:
        size = ctypes.c_size_t()
        native.api.GetValueCount(value, ctypes.byref(size))
        count = size.value
    items = []
    for index in range(count):
        out = ctypes.POINTER(raw.OrtValue)()
        native.api.GetValue(value, index, native.cpu_allocator, ctypes.byref(out))
        items.append(Value(native, out))
    return items
