"""What a user gives for a tensor, to an OrtValue."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..core.handle import Owned
from ..core.native import Native
from .arrays import as_array
from .element import STRING, Element
from .packed import pack
from .tensor import tensor_over
from .text import fill_strings

__all__ = ["Made", "make_tensor"]


class Made(Owned):
    """An OrtValue for one use, which nobody else sees: it has no `Handle`, which would cost more than making it.

    Attributes:
        keep: what it points into.
    """

    __slots__ = ("keep",)

    def __init__(self, native: Native, address: int, keep: Any = None) -> None:
        super().__init__(address, native.quick.ReleaseValue)
        self.keep = keep


def make_tensor(native: Native, data: Any, target: Element | None) -> Made:
    """A tensor.

    An array that is not C-contiguous, not aligned or not in this machine's byte order is copied, and so are strings
    and types of less than 8 bits; everything else is pointed to.

    Args:
        data: an array, or what numpy can make one of.
        target: the element type to make; None takes the array's own.

    Raises:
        InputError: ONNX has no such element type, or it is not ``target``.
    """
    array, item = as_array(data, target)
    if item.code == STRING:
        return _string_tensor(native, array)
    shape = array.shape
    if item.packed:
        array = pack(array, item)
    # numpy copies only where it is not so already.
    array = np.require(array, array.dtype.newbyteorder("="), ["C", "A"])
    return Made(native, tensor_over(native, array, shape, item.code), array)


def _string_tensor(native: Native, array: Any) -> Made:
    out, shape = ctypes.c_void_p(), (ctypes.c_int64 * array.ndim)(*array.shape)
    status = native.quick.CreateTensorAsOrtValue(native.cpu_allocator, shape, array.ndim, STRING, ctypes.byref(out))
    if status:
        raise native.statuses.error_at(status, "CreateTensorAsOrtValue")
    made = Made(native, out.value or 0)
    fill_strings(native, made.address, array)
    return made
