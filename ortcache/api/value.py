"""OrtValues: what goes into a session and comes out of it."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from .. import raw
from ..core.handle import Handle, Hold
from ..core.native import Native
from .element import Element
from .making import Made, make_tensor
from .reading import kind_of, read
from .tensor import describe
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
        return cls.of(native, make_tensor(native, data, target))

    @classmethod
    def of(cls, native: Native, made: Made) -> Value:
        """A value that was made for one use, for the user."""
        pointer = ctypes.cast(made.address, ctypes.POINTER(raw.OrtValue))
        writeable = not isinstance(made.keep, np.ndarray) or made.keep.flags.writeable
        value = cls(native, pointer, keep=(made.keep,), writeable=writeable)
        made.give_up()
        return value

    @property
    def address(self) -> int:
        """Where the OrtValue is."""
        return ctypes.addressof(self._pointer.contents)

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
