"""Where a compiled model's initializers go, by a Python function's word."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import raw
from ..core.callbacks import target
from ..core.marshal import path_argument
from ..core.native import Native
from ..errors import InputError
from .value import Value

__all__ = ["Location", "LocationFunction", "Locator", "locate"]


@dataclass(frozen=True)
class Location:
    """Where an initializer's bytes are in a file."""

    path: str | os.PathLike[Any]
    offset: int
    size: int


#: Gets an initializer's name, its array (a copy), and where it was until now (None: in the model). It gives where it
#: put the bytes, or None: in the model.
LocationFunction = Callable[[str, Any, "Location | None"], "Location | None"]


class Locator:
    """The function, and the library that calls it."""

    def __init__(self, native: Native, function: LocationFunction) -> None:
        if not callable(function):
            raise TypeError(f"initializer_location must be a function, not {type(function).__name__}")
        self.native = native
        self.function = function


def locate(state: int | None, name: bytes, value: Any, external: Any, out: Any) -> None:
    """What C calls; ``state`` is the token of a `Locator`."""
    locator = target(state)
    with Value(locator.native, value, owned=False) as borrowed:
        array = np.array(borrowed.numpy())  # a copy: the function may keep it
    place = locator.function(name.decode("utf-8", "replace"), array, _read(locator.native, external))
    if place is None:
        return
    if not isinstance(place, Location):
        raise TypeError(f"an initializer's location must be a Location or None, not {type(place).__name__}")
    if place.offset < 0 or place.size < 0:
        raise InputError(f"an initializer's location cannot be negative: {place}")
    info = ctypes.POINTER(raw.OrtExternalInitializerInfo)()
    path = path_argument(place.path, "an initializer's file")
    locator.native.api.CreateExternalInitializerInfo(path, place.offset, place.size, ctypes.byref(info))
    out[0] = info  # ORT owns it now


def _read(native: Native, external: Any) -> Location | None:
    if not external:
        return None
    api = native.api
    return Location(
        os.fsdecode(api.ExternalInitializerInfo_GetFilePath(external)),
        api.ExternalInitializerInfo_GetFileOffset(external),
        api.ExternalInitializerInfo_GetByteSize(external),
    )
