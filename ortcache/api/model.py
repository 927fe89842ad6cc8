"""A model, from a path or from bytes, to an OrtSession."""

from __future__ import annotations

import ctypes
import os
import stat
from pathlib import Path
from typing import Any

from .. import raw
from ..core.marshal import path_argument
from ..errors import InputError
from .env import Environment
from .options import SessionOptions

__all__ = ["create_session"]

#: Config entries that, set to "1", let ORT point into the model's bytes instead of copying them.
_BYTES_USED_IN_PLACE = (
    "kOrtSessionOptionsConfigUseORTModelBytesDirectly",
    "kOrtSessionOptionsConfigUseORTModelBytesForInitializers",
)


def create_session(env: Environment, model: Any, options: SessionOptions) -> tuple[Any, Any]:
    """Make the session.

    Returns:
        The OrtSession, and what it points into.

    Raises:
        OrtError: there is no such file, it is no model, or a node of it has no kernel.
        InputError: the model is empty, or the path cannot be a model's.
    """
    api, out = env.native.api, ctypes.POINTER(raw.OrtSession)()
    from_bytes = isinstance(model, (bytes, bytearray, memoryview))
    data = _checked_bytes(model) if from_bytes else _checked_path(model)
    pointer = env._enter()
    try:
        settings = options._enter()
        try:
            if not from_bytes:
                api.CreateSession(pointer, data, settings, ctypes.byref(out))
                return out, None
            api.CreateSessionFromArray(pointer, data, len(data), settings, ctypes.byref(out))
            in_place = any(options.config.get(getattr(raw, name)) == "1" for name in _BYTES_USED_IN_PLACE)
            return out, data if in_place else None
        finally:
            options._leave()
    finally:
        env._leave()


def _checked_bytes(model: bytes | bytearray | memoryview) -> bytes:
    data = model if isinstance(model, bytes) else bytes(model)
    if not data:
        raise InputError("the model is empty: 0 bytes were given")
    return data


def _checked_path(model: Any) -> str | bytes:
    """The path for C, where it can be a model's: ORT's own messages do not say what is wrong with these, and of a
    pipe or a device it would read for ever."""
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"a model is a path, or the bytes of one, not {type(model).__name__}")
    argument = path_argument(model, "model path")
    path = Path(os.fsdecode(argument))
    try:
        found = path.stat()
    except FileNotFoundError:
        return argument  # ORT says so
    except OSError as error:
        raise InputError(f"the model path {path} cannot be looked at: {error.strerror}") from None
    if stat.S_ISDIR(found.st_mode):
        raise InputError(f"the model path {path} is a folder: name the .onnx or .ort file in it")
    if not stat.S_ISREG(found.st_mode):
        raise InputError(f"the model path {path} is a pipe or a device: read it, and give the bytes")
    if not found.st_size:
        raise InputError(f"the model file {path} is empty")
    return argument
