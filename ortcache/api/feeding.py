"""The OrtValues of one run's feeds: there while it goes on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.native import Native
from .convert import Fed, feed_value
from .signature import Inputs
from .tensor import address_array, tensor_over
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

    __slots__ = ("_entered", "_made", "_native", "_others", "arrays", "count", "names", "plain", "values")

    def __init__(self, native: Native, inputs: Inputs, feeds: Mapping[str, Any]) -> None:
        slots, self.names, self.arrays = inputs.choose(feeds)
        self._native = native
        self._made: list[int] = []
        self._others: list[Fed] = []
        self._entered: list[Value] = []
        self.count = len(slots)
        self.values = address_array(self.count)()
        try:
            for place, data in enumerate(self.arrays.values()):
                slot = slots[place]
                if slot.plain and data.__class__ is np.ndarray and data.dtype == slot.dtype and _usable(data.flags):
                    made = tensor_over(native, data, data.shape, slot.code)
                    self._made.append(made)
                    self.values[place] = made
                else:
                    self.values[place] = self._other(feed_value(native, slot.info, data))
        except BaseException:
            self.release()
            raise
        self.plain = not self._others

    def _other(self, value: Fed) -> int:
        self._others.append(value)
        if isinstance(value, Value):
            value._enter()
            self._entered.append(value)
        return value.address

    def release(self) -> None:
        """The run is over: give back what was made for it."""
        for made in self._made:
            self._native.quick.ReleaseValue(made)
        for value in self._entered:
            value._leave()
        self._made, self._entered = [], []


def _usable(flags: Any) -> bool:
    return bool(flags.c_contiguous and flags.aligned)
