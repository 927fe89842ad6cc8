"""OrtKeyValuePairs from and to a dict."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .. import raw
from ..core.marshal import string
from ..core.native import Native
from ..errors import InputError

__all__ = ["read_key_values", "temporary_key_values"]


def read_key_values(native: Native, pairs: Any) -> dict[str, str]:
    """The entries of a borrowed OrtKeyValuePairs, copied; none for NULL."""
    if not pairs:
        return {}
    keys, values = (ctypes.POINTER(ctypes.c_char_p)() for _ in range(2))
    count = ctypes.c_size_t()
    native.api.GetKeyValuePairs(pairs, ctypes.byref(keys), ctypes.byref(values), ctypes.byref(count))
    return {_text(keys[i]): _text(values[i]) for i in range(count.value)}


@contextmanager
def temporary_key_values(native: Native, entries: Mapping[str, str]) -> Iterator[Any]:
    """An OrtKeyValuePairs of these entries, released at the end of the block.

    Raises:
        InputError: a key is empty, which C would leave out in silence, or there is a NUL in an entry.
    """
    checked = [(string(key, "key"), string(value, f"the value of {key!r}")) for key, value in entries.items()]
    if any(not key for key, _ in checked):
        raise InputError("a key is empty")
    pairs = ctypes.POINTER(raw.OrtKeyValuePairs)()
    native.api.CreateKeyValuePairs(ctypes.byref(pairs))
    try:
        for key, value in checked:
            native.api.AddKeyValuePair(pairs, key, value)
        yield pairs
    finally:
        native.api.ReleaseKeyValuePairs(pairs)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
