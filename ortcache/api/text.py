"""String tensors: numpy's text arrays to ORT's strings and back, byte for byte."""

from __future__ import annotations

import ctypes
import itertools
import math
from typing import Any

import numpy as np

from .. import raw
from ..core.native import Native
from ..errors import InputError

__all__ = ["fill_strings", "read_strings"]


def fill_strings(native: Native, value: int, array: Any) -> None:
    """Copy an array of text into the string tensor at that address. Items are str, or bytes taken as they are.

    Raises:
        InputError: an item that is neither.
    """
    items = [_encode(item) if item.__class__ is not str else _utf8(item) for item in array.ravel().tolist()]
    if not items:
        return
    api, pointer = native.api, _typed(value)
    joined = b"\0".join(items) + b"\0"
    if joined.count(b"\0") == len(items):
        api.FillStringTensor(pointer, _pointers(joined, items), len(items))
        return
    for index, item in enumerate(items):  # the function for all at once ends each at its first NUL
        buffer = ctypes.POINTER(ctypes.c_char)()
        api.GetResizedStringTensorElementBuffer(pointer, index, len(item), ctypes.byref(buffer))
        ctypes.memmove(buffer, item, len(item))


def read_strings(native: Native, value: int, shape: tuple[int, ...]) -> Any:
    """A string tensor as an array of str. Bytes that are not UTF-8 come as lone surrogates, and go back the same."""
    count = math.prod(shape)
    result = np.empty(count, dtype=object)
    if count:
        api, pointer, length = native.api, _typed(value), ctypes.c_size_t()
        api.GetStringTensorDataLength(pointer, ctypes.byref(length))
        data = ctypes.create_string_buffer(max(length.value, 1))
        starts: Any = np.empty(count, np.uintp)
        api.GetStringTensorContent(pointer, data, length, (ctypes.c_size_t * count).from_buffer(starts), count)
        result[:] = _split(data.raw[: length.value], [*starts.tolist(), length.value])
    return result.reshape(shape)


def _typed(value: int) -> Any:
    return ctypes.cast(value, ctypes.POINTER(raw.OrtValue))


def _pointers(joined: bytes, items: list[bytes]) -> Any:
    """A ``const char* const*`` into items that are joined with a NUL after each, which must last as long."""
    sizes = np.fromiter(map(len, items), np.uintp, len(items)) + 1
    places: Any = np.cumsum(sizes) - sizes + np.frombuffer(joined, np.uint8).ctypes.data
    return (ctypes.c_char_p * len(items)).from_buffer(places)


def _split(data: bytes, places: list[int]) -> list[str]:
    parts = itertools.pairwise(places)
    if data.isascii():  # then bytes and characters are the same places, and one decoding does
        text = data.decode("ascii")
        return [text[start:end] for start, end in parts]
    return [data[start:end].decode("utf-8", "surrogateescape") for start, end in parts]


def _encode(item: Any) -> bytes:
    if isinstance(item, bytes):
        return item
    if not isinstance(item, str):
        raise InputError(f"a string tensor holds text; one item is {type(item).__name__}")
    return _utf8(item)


def _utf8(item: str) -> bytes:
    try:
        return item.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError as error:
        raise InputError(f"an item is no text that UTF-8 can hold: {error.reason} at character {error.start}") from None
