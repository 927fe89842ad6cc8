"""Choose a library, load it, and open its C API."""

from __future__ import annotations

import ctypes
import os

from ..errors import NotOnnxRuntimeError
from .library import find_library, load_library
from .native import Native

__all__ = ["open_native"]


def open_native(path: str | os.PathLike[str] | None = None, api_version: int | None = None) -> Native:
    """Load ONNX Runtime; `find_library` says which, and `Native` what can go wrong after it."""
    choice = find_library(path)
    get_base = load_library(choice).OrtGetApiBase
    get_base.restype = ctypes.c_void_p
    get_base.argtypes = []
    base = get_base()
    if not base:
        raise NotOnnxRuntimeError(f"{choice}: OrtGetApiBase gives NULL")
    return Native(base, choice, api_version)
