"""OrtValues: what goes into a session and comes out of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import raw
from ..core.handle import Handle, Hold
from ..core.native import Native
from .arrays import as_array
from .element import STRING, Element
from .packed import pack
from .reading import kind_of, read
from .tensor import describe, tensor_over
from .text import fill_strings
from .typeinfo import Kind, TypeInfo, read_type_info

__all__ = ["Value"]

T = TypeVar("T")


class Value(Handle):
    """An OrtValue.

    Memory is shared wherever the layout allows: a tensor made from a C-contiguous array points into that array, and
    the array that `numpy` gives points into the tensor. Each keeps the other alive, also after `close`.
    """

    _at_exit = False  # it needs nothing released in order: its memory goes with the process

    def __init__(
        self, native: Native, pointer: Any, *, owned: bool = True, keep: tuple[Any, ...] = (), writeable: bool = True
    ) -> None:
        self.native = native
        self._writeable = writeable
        super().__init__(pointer, native.api.raw.ReleaseValue if owned else None, keep=keep)

    @classmethod
    def from_numpy(cls, native: Native, data: Any, target: Element | None = None) -> Value:
        """A tensor.

        An array that is not C-contiguous, not aligned or not in this machine's byte order is copied, and so are
        strings and types of less than 8 bits.

        Args:
            data: an array, or what numpy can make one of.
            target: the element type to make; None takes the array's own.

        Raises:
            InputError: ONNX has no such element type, or it is not ``target``.
        """
        if isinstance(data, Value):
            raise TypeError("this is a Value already")
        array, item = as_array(data, target)
        if item.code == STRING:
            return _string_tensor(cls, native, array)
        shape = array.shape
        if item.packed:
            array = pack(array, item)
        # numpy copies only where it is not so already.
        array = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
        pointer = ctypes.cast(tensor_over(native, array, shape, item.code), ctypes.POINTER(raw.OrtValue))
        return cls(native, pointer, keep=(array,), writeable=array.flags.writeable)

    @property
    def kind(self) -> int:
        """An ONNXType: tensor, sequence, map, …; unknown for an optional without a value."""
        return self._use(lambda address: kind_of(self.native, address))

    @property
    def info(self) -> TypeInfo:
        """Its type in full."""
        return self._use(self._info)

    @property
    def type(self) -> str:
        """Its type as text, such as ``tensor(float)``."""
        return str(self.info)

    @property
    def shape(self) -> tuple[int, ...]:
        """A tensor's shape."""
        return self._use(lambda address: describe(self.native, address)[1])

    def numpy(self) -> Any:
        """The value for Python: an array for a tensor (sharing its memory), a list for a sequence, a dict for a map,
        a `SparseTensor` for a sparse one, None for an optional without a value."""
        return self._use(lambda address: read(self.native, address, Hold(self), writeable=self._writeable))

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

    def _use(self, function: Callable[[int], T]) -> T:
        pointer = self._enter()
        try:
            return function(ctypes.addressof(pointer.contents))
        finally:
            self._leave()

    def _info(self, address: int) -> TypeInfo:
        if kind_of(self.native, address) == Kind.ONNX_TYPE_UNKNOWN:
            return TypeInfo(Kind.ONNX_TYPE_UNKNOWN)
        out = ctypes.POINTER(raw.OrtTypeInfo)()
        self.native.api.GetTypeInfo(self._record.pointer, ctypes.byref(out))
        try:
            return read_type_info(self.native, out)
        finally:
            self.native.api.ReleaseTypeInfo(out)


def _string_tensor(cls: type[Value], native: Native, array: Any) -> Value:
    out = ctypes.POINTER(raw.OrtValue)()
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    native.api.CreateTensorAsOrtValue(native.cpu_allocator, shape, array.ndim, STRING, ctypes.byref(out))
    value = cls(native, out)
    fill_strings(native, ctypes.addressof(out.contents), array)
    return value
