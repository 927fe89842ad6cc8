"""String tensors: numpy's text arrays to ORT's strings and back, byte for byte."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ..core.native import Native
from ..errors import InputError

__all__ = ["fill_strings", "read_strings"]


def fill_strings(native: Native, pointer: Any, array: Any) -> None:
    """Copy an array of text into a string tensor of the same size. Items are str, or bytes taken as they are.

    Raises:
        InputError: an item that is neither.
    """
    items = [_encode(item) for item in array.ravel().tolist()]
    if not items:
        return
    if any(b"\0" in item for item in items):  # the C function for all at once ends each at its first NUL
        for index, item in enumerate(items):
            buffer = ctypes.POINTER(ctypes.c_char)()
            native.api.GetResizedStringTensorElementBuffer(pointer, index, len(item), ctypes.byref(buffer))
            ctypes.memmove(buffer, item, len(item))
        return
    native.api.FillStringTensor(pointer, (ctypes.c_char_p * len(items))(*items), len(items))


def read_strings(native: Native, pointer: Any, shape: tuple[int, ...]) -> Any:
    """A string tensor as an array of str. Bytes that are not UTF-8 come as lone surrogates, and go back the same."""
    count = int(np.prod(shape, dtype=np.int64))
    result = np.empty(count, dtype=object)
    if count:
        length = ctypes.c_size_t()
        native.api.GetStringTensorDataLength(pointer, ctypes.byref(length))
        data = ctypes.create_string_buffer(max(length.value, 1))
        starts = (ctypes.c_size_t * count)()
        native.api.GetStringTensorContent(pointer, data, length, starts, count)
        text = data.raw[: length.value]
        ends = [*starts[1:], length.value]
        result[:] = [
            text[start:end].decode("utf-8", "surrogateescape") for start, end in zip(starts, ends, strict=True)
        ]
    return result.reshape(shape)


def _encode(item: Any) -> bytes:
    if isinstance(item, str):
        return item.encode("utf-8", "surrogateescape")
    if isinstance(item, bytes):
        return item
    raise InputError(f"a string tensor holds text; one item is {type(item).__name__}")
