"""Where an initializer's data is, and what it is."""

from __future__ import annotations

import ctypes
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import raw
from ..api.reading import read
from ..core.status import address
from .view import View

__all__ = ["ExternalData", "external_data", "initial_value"]


@dataclass(frozen=True)
class ExternalData:
    """Where the data of an initializer is that is not in the model's own file.

    Attributes:
        path: the file, as the model names it: from the model's folder.
        offset: bytes before it.
        size: its bytes.
    """

    path: Path
    offset: int
    size: int


def external_data(info: View) -> ExternalData | None:
    """Of an OrtValueInfo; None where it is no initializer, or its data is in memory."""
    out = info._get("ValueInfo_GetExternalInitializerInfo", ctypes.POINTER(raw.OrtExternalInitializerInfo)())
    if not out:
        return None
    api = info._native.api
    try:
        path = api.ExternalInitializerInfo_GetFilePath(out)
        offset, size = api.ExternalInitializerInfo_GetFileOffset(out), api.ExternalInitializerInfo_GetByteSize(out)
        return ExternalData(Path(os.fsdecode(path or "")), offset, size)
    finally:
        api.ReleaseExternalInitializerInfo(out)


def initial_value(info: View, copy: bool) -> Any:
    """Of an OrtValueInfo; None where it is no initializer."""
    value = address(info._get("ValueInfo_GetInitializerValue", ctypes.POINTER(raw.OrtValue)()))  # borrowed
    if value is None:
        return None
    array = read(info._native, value, None, writeable=False)
    return array.copy() if copy else array
