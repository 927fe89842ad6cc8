"""The OrtValues of one run's feeds: there while it goes on."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.native import Native
from .convert import feed_value
from .signature import Inputs
from .tensor import tensor_over
from .value import Value

__all__ = ["Feeds"]


class Feeds:
    """The feeds of one run as C takes them. `release` ends it.

    Attributes:
        names: a ``const char* const*``.
        values: a ``const OrtValue* const*``.
        count: how many.
        plain: are all of them arrays that C uses as they are?
        arrays: name to data.
    """

    __slots__ = ("_entered", "_made", "_native", "arrays", "count", "names", "plain", "values")

    def __init__(self, native: Native, inputs: Inputs, feeds: Mapping[str, Any]) -> None:
        slots, self.names, self.arrays = inputs.choose(feeds)
        self._native = native
        self._made: list[int] = []
        self._entered: list[Value] = []
        self.count = len(slots)
        self.values = (ctypes.c_void_p * self.count)()
        try:
            for place, (slot, data) in enumerate(zip(slots, self.arrays.values(), strict=True)):
                if slot.plain and data.__class__ is np.ndarray and data.dtype == slot.dtype and _usable(data.flags):
                    self.values[place] = made = tensor_over(native, data, data.shape, slot.code)
                    self._made.append(made)
                else:
                    value = feed_value(native, slot.info, data)
                    pointer = value._enter()
                    self._entered.append(value)
                    self.values[place] = ctypes.addressof(pointer.contents)
        except BaseException:
            self.release()
            raise
        self.plain = not self._entered

    def release(self) -> None:
        """The run is over: give back what was made for it."""
        for made in self._made:
            self._native.quick.ReleaseValue(made)
        for value in self._entered:
            value._leave()
        self._made, self._entered = [], []


def _usable(flags: Any) -> bool:
    return bool(flags.c_contiguous and flags.aligned)
