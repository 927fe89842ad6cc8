"""Element types of less than a byte: ORT packs several a byte, lowest bits first; numpy has one a byte."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .element import Element

__all__ = ["pack", "unpack"]


def pack(array: Any, item: Element) -> Any:
    """One element a byte to ORT's packed bytes.

    Args:
        array: of the element's own dtype, or integers in its range.

    Raises:
        InputError: an integer that the type cannot hold.
    """
    if array.dtype.kind in "iu" and array.dtype != item.dtype:
        low, high = _range(item)
        if array.size and (array.min() < low or array.max() > high):
            raise InputError(
                f"tensor({item.name}) holds {low} to {high}; the array goes from {array.min()} to {array.max()}"
            )
    # ml_dtypes keeps its small types in the low bits of a byte; integers are cut to them.
    codes = np.ascontiguousarray(array).ravel()
    codes = codes.view(np.uint8) if codes.dtype.itemsize == 1 else codes.astype(np.int64).astype(np.uint8)
    codes = codes & ((1 << item.bits) - 1)
    per_byte = 8 // item.bits
    padded = np.zeros(-(-codes.size // per_byte) * per_byte, np.uint8)
    padded[: codes.size] = codes
    groups = padded.reshape(-1, per_byte)
    result = np.zeros(len(groups), np.uint8)
    for place in range(per_byte):
        result |= groups[:, place] << (place * item.bits)
    return result


def unpack(data: Any, shape: tuple[int, ...], item: Element) -> Any:
    """ORT's packed bytes to an array with one element a byte."""
    per_byte = 8 // item.bits
    mask = (1 << item.bits) - 1
    codes = np.stack([(data >> (place * item.bits)) & mask for place in range(per_byte)], axis=-1).ravel()
    codes = codes[: int(np.prod(shape, dtype=np.int64))]
    if item.name.startswith("int"):
        sign = 1 << (item.bits - 1)
        values = (codes.astype(np.int16) ^ sign) - sign
        return values.astype(np.int8).astype(item.dtype).reshape(shape)
    if item.name.startswith("uint"):
        return codes.astype(item.dtype).reshape(shape)
    return codes.view(item.dtype).reshape(shape)


def _range(item: Element) -> tuple[int, int]:
    if item.name.startswith("int"):
        return -(1 << (item.bits - 1)), (1 << (item.bits - 1)) - 1
    return 0, (1 << item.bits) - 1
