"""Python strings, paths and sequences to what C functions take."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ..errors import InputError

__all__ = ["PATH_IS_WIDE", "int64_array", "key_values", "path_argument", "pointers", "string", "strings"]

#: Does ORTCHAR_T mean wchar_t here?
PATH_IS_WIDE = sys.platform == "win32"


def string(text: str | bytes, what: str = "text") -> bytes:
    """UTF-8 for a ``const char*``; InputError for what C would cut short."""
    if not isinstance(text, (str, bytes)):
        raise TypeError(f"{what} must be a str, not {type(text).__name__}")
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
    except UnicodeEncodeError as error:
        raise InputError(f"{what} {text!r} is no text that UTF-8 can hold: {error.reason}") from None
    if b"\0" in data:
        raise InputError(f"{what} {text!r} holds a NUL character")
    return data


def strings(texts: Iterable[str | bytes], what: str = "text") -> Any:
    """A ``const char* const*``."""
    data = [string(text, what) for text in texts]
    return (ctypes.c_char_p * len(data))(*data)


def path_argument(
    path: str | bytes | os.PathLike[Any], what: str = "path", *, wide: bool = PATH_IS_WIDE
) -> str | bytes:
    """A ``const ORTCHAR_T*``: the file system's bytes, or on Windows a wide string."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"{what} must be a path, not {type(path).__name__}")
    try:
        result = os.fsdecode(path) if wide else os.fsencode(path)
    except UnicodeError as error:
        raise InputError(f"{what} {path!r} cannot be a file name here: {error}") from None
    if not result:
        raise InputError(f"{what} is empty")
    if ("\0" if isinstance(result, str) else b"\0") in result:  # type: ignore[operator]
        raise InputError(f"{what} {path!r} holds a NUL character")
    return result


def int64_array(values: Sequence[int]) -> Any:
    return (ctypes.c_int64 * len(values))(*values)


def pointers(kind: Any, items: Sequence[Any]) -> Any:
    """An array of typed pointers, from pointers or wrappers."""
    return (ctypes.POINTER(kind) * len(items))(*[getattr(item, "_as_parameter_", item) for item in items])


def key_values(options: Mapping[str, object] | None, what: str = "option") -> tuple[Any, Any, int]:
    """Two ``const char* const*`` and their length, from a mapping; values are written as text."""
    items = dict(options or {})
    for name, value in items.items():
        if not isinstance(value, (str, bytes, bool, int, float)):
            raise TypeError(f"{what} {name!r} must be a str or a number, not {type(value).__name__}")
    values = [value if isinstance(value, (str, bytes)) else _number(value) for value in items.values()]
    return strings(items, f"{what} name"), strings(values, f"{what} value"), len(items)


def _number(value: object) -> str:
    return str(int(value)) if isinstance(value, bool) else str(value)
