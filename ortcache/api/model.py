"""A model, from a path or from bytes, to an OrtSession."""

from __future__ import annotations

import ctypes
import os
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
        InputError: the model is empty.
    """
    api, out = env.native.api, ctypes.POINTER(raw.OrtSession)()
    env_pointer = env._enter()
    try:
        settings = options._enter()
        try:
            if not isinstance(model, (bytes, bytearray, memoryview)):
                path = path_argument(model, "model path")
                _check_file(Path(os.fsdecode(path)))
                api.CreateSession(env_pointer, path, settings, ctypes.byref(out))
                return out, None
            data = model if isinstance(model, bytes) else bytes(model)
            if not data:
                raise InputError("the model is empty: 0 bytes were given")
            api.CreateSessionFromArray(env_pointer, data, len(data), settings, ctypes.byref(out))
            in_place = any(options.config.get(getattr(raw, name)) == "1" for name in _BYTES_USED_IN_PLACE)
            return out, data if in_place else None
        finally:
            options._leave()
    finally:
        env._leave()


def _check_file(path: Path) -> None:
    """ORT's own messages for these two say nothing of what is wrong."""
    if path.is_dir():
        raise InputError(f"the model path {path} is a folder: name the .onnx or .ort file in it")
    if path.is_file() and path.stat().st_size == 0:
        raise InputError(f"the model file {path} is empty")
