"""Element types of less than a byte: ORT packs several a byte, lowest bits first; numpy has one a byte."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..errors import InputError
from .element import Element

__all__ = ["pack", "packed_size", "unpack"]


def packed_size(shape: tuple[int, ...], item: Element) -> int:
    """How many bytes ORT has for a tensor of that shape."""
    return (math.prod(shape) * item.bits + 7) // 8


def pack(array: Any, item: Element) -> Any:
    """One element a byte to ORT's packed bytes.

    Args:
        array: of the element's own dtype, or integers in its range (for float4: its bits).

    Raises:
        InputError: an integer that the type cannot hold.
    """
    if array.dtype != item.dtype or array.dtype.kind in "iu":
        low, high = _range(item)
        if array.size and (array.min() < low or array.max() > high):
            raise InputError(
                f"tensor({item.name}) holds {low} to {high}; the array goes from {array.min()} to {array.max()}"
            )
        array = array.astype(np.uint8)  # of what is negative, the low bits are right
    # ml_dtypes keeps its small types in the low bits of a byte.
    codes = np.ascontiguousarray(array).ravel().view(np.uint8) & ((1 << item.bits) - 1)
    per_byte = 8 // item.bits
    padded = np.zeros(packed_size(array.shape, item) * per_byte, np.uint8)
    padded[: codes.size] = codes
    groups = padded.reshape(-1, per_byte)
    result = np.zeros(len(groups), np.uint8)
    for place in range(per_byte):
        result |= groups[:, place] << (place * item.bits)
    return result


def unpack(data: Any, shape: tuple[int, ...], item: Element) -> Any:
    """ORT's packed bytes to a new array with one element a byte."""
    per_byte = 8 // item.bits
    mask = (1 << item.bits) - 1
    codes = np.stack([(data >> (place * item.bits)) & mask for place in range(per_byte)], axis=-1)
    codes = codes.ravel()[: math.prod(shape)].reshape(shape)
    if item.name.startswith("int"):
        sign = 1 << (item.bits - 1)
        return ((codes.astype(np.int8) ^ sign) - sign).astype(item.dtype)
    # A float's codes are its bits.
    return codes.astype(item.dtype) if item.name.startswith("uint") else codes.view(item.dtype)


def _range(item: Element) -> tuple[int, int]:
    if item.name.startswith("int"):
        return -(1 << (item.bits - 1)), (1 << (item.bits - 1)) - 1
    return 0, (1 << item.bits) - 1
