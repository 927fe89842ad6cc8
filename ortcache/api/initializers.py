"""What session options say of the model: fixed dimensions, initializers in place of its own, custom operators."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from .. import raw
from ..core.elf import truncation
from ..core.handle import Hold
from ..core.marshal import PATH_IS_WIDE, path_argument, pointers, string, strings
from ..core.native import Native
from ..errors import InputError
from .optionbase import Options
from .value import Value

__all__ = ["ModelSettings"]


class ModelSettings(Options):
    """What `SessionOptions` has of methods about the model."""

    def add_free_dimension_override_by_denotation(self, denotation: str, size: int) -> None:
        """Fix the dimensions of model inputs that have this denotation, such as "DATA_BATCH"."""
        self._call("AddFreeDimensionOverride", *_dimension(denotation, size, "denotation"))

    def add_free_dimension_override_by_name(self, name: str, size: int) -> None:
        """Fix the dimensions of model inputs that have this symbolic name, such as "batch"."""
        self._call("AddFreeDimensionOverrideByName", *_dimension(name, size, "name"))

    def add_initializer(self, name: str, value: Any) -> None:
        """Use this value for the model's initializer of that name, shared: several sessions may use one value.

        Args:
            value: a `Value`, or an array. Its element type must be the model's: ORT takes another one for that type.

        Raises:
            OrtError: there is a value for this name already, or it holds strings.
        """
        key, item = _named_value(self.native, name, value)
        self._call("AddInitializer", key, item)
        self._kept.always.append(Hold(item))

    def add_external_initializers(self, values: Mapping[str, Any]) -> None:
        """Use these values (`Value` or array, by name) for initializers whose data the model has in other files."""
        arguments, held = _value_arguments(self.native, values)
        self._call("AddExternalInitializers", *arguments)
        self._kept.once.append(Hold(*held))

    def add_external_initializers_from_files_in_memory(self, files: Mapping[str, Any]) -> None:
        """Use these buffers for the files in which the model has its initializers' data.

        Args:
            files: the file's name as the model gives it, to bytes or a contiguous buffer, which is not copied here.
        """
        arguments, held = _file_arguments(files)
        self._call("AddExternalInitializersFromFilesInMemory", *arguments)
        self._kept.once.append(held)

    def register_custom_ops_library(self, path: str | os.PathLike[Any]) -> None:
        """Load a library of custom operators; a name without a folder that is no file here is left to the system.

        Raises:
            InputError: there is no such file, or it is truncated.
            OrtError: it does not export RegisterCustomOps, or that failed.
        """
        file = Path(os.fsdecode(path_argument(path, "library path")))
        if file.exists():
            damage = truncation(file)
            if damage:
                raise InputError(f"{file}: {damage}")
            file = file.absolute()
        elif len(file.parts) > 1:
            raise InputError(f"there is no custom operator library {file.absolute()}")
        self._call("RegisterCustomOpsLibrary_V2", path_argument(file))

    def set_load_cancellation_flag(self, cancel: bool = True) -> None:
        """End the making of a session with these options that goes on in another thread (False: let one be made).

        It fails with ORT_MODEL_LOAD_CANCELED then, if it was not too late.
        """
        self._call("SessionOptionsSetLoadCancellationFlag", bool(cancel))


def _named_value(native: Native, name: str, data: Any) -> tuple[bytes, Value]:
    """A checked name, and the data as a `Value`."""
    key = string(name, "initializer name")
    if not key:
        raise InputError("the initializer name is empty")
    return key, data if isinstance(data, Value) else Value.from_numpy(native, data)


def _value_arguments(native: Native, values: Mapping[str, Any]) -> tuple[tuple[Any, Any, int], list[Value]]:
    """Two C arrays and their length for initializers by name, and the values that the second points to."""
    named = [_named_value(native, name, data) for name, data in _mapping(values, "initializers").items()]
    held = [value for _, value in named]
    return (strings([key for key, _ in named]), pointers(raw.OrtValue, held), len(named)), held


def _file_arguments(files: Mapping[str, Any]) -> tuple[tuple[Any, Any, Any, int], list[Any]]:
    """Three C arrays (names, buffers, sizes) and their length for files in memory, and what the second points into."""
    names = [path_argument(name, "file name") for name in _mapping(files, "files")]
    arrays = [_bytes(name, data) for name, data in files.items()]
    text: Any = ctypes.c_wchar_p if PATH_IS_WIDE else ctypes.c_char_p
    byte = ctypes.POINTER(ctypes.c_char)
    buffers = (byte * len(arrays))(*[ctypes.cast(array.ctypes.data, byte) for array in arrays])
    sizes = (ctypes.c_size_t * len(arrays))(*[array.nbytes for array in arrays])
    return ((text * len(names))(*names), buffers, sizes, len(names)), arrays


def _bytes(name: str, data: Any) -> Any:
    """The bytes of a buffer, shared, as an array: while it is there, a bytearray cannot be resized."""
    try:
        view = memoryview(data)
        array = np.frombuffer(view, np.uint8) if view.nbytes else None
    except (TypeError, ValueError, BufferError) as error:
        raise InputError(f"the file {name!r} must be bytes or a contiguous buffer: {error}") from None
    if array is None:
        raise InputError(f"the file {name!r} is empty")
    return array


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} must be a mapping of name to data, not {type(value).__name__}")
    if not value:
        raise InputError(f"there are no {what}: the mapping is empty")
    return value


def _dimension(name: str, size: int, what: str) -> tuple[bytes, int]:
    key = string(name, what)
    if not key:
        raise InputError(f"the dimension's {what} is empty")
    if isinstance(size, bool) or not isinstance(size, int):
        raise TypeError(f"a dimension must be a whole number, not {size!r}")
    if not 0 <= size < 2**63:
        raise InputError(f"a dimension must be 0 or more, not {size}")
    return key, size
