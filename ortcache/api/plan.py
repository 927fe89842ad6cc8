"""Prepared runs: what one signature (the feeds' names and shapes, all outputs) needs, made once and used again.

A plan serves one thread at a time. It is not a `Handle`: the session's own release closes it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.marshal import int64_array, strings
from ..core.native import Native
from .iobinding import bind_array, prepared_run
from .signature import Slot
from .tensor import address_of

__all__ = ["CopyingPlan", "Plan", "PointingPlan"]

#: Each input or output with the shape of its array.
_Shaped = list[tuple[Slot, tuple[int, ...]]]


class Plan:
    """The base: `fill`, then `run`, then `results`.

    Attributes:
        run: runs the model; gives None for success, or an OrtStatus's address.
    """

    __slots__ = ()

    run: Any

    def fill(self, feeds: Mapping[str, Any]) -> bool:
        """Take the feeds, if they are of this plan's signature."""
        raise NotImplementedError

    def results(self) -> list[Any]:
        """New arrays with the outputs."""
        raise NotImplementedError

    def close(self) -> None:
        raise NotImplementedError


class CopyingPlan(Plan):
    """Small feeds are copied into buffers that are bound once, and small results copied out: to bind, or to make
    OrtValues, takes longer than that."""

    __slots__ = ("_binding", "_inputs", "_native", "_outputs", "run")

    def __init__(self, native: Native, session: Any, inputs: _Shaped, outputs: _Shaped) -> None:
        self._native = native
        self._binding = ctypes.c_void_p()
        status = native.quick.CreateIoBinding(session, ctypes.byref(self._binding))
        if status:
            raise native.statuses.error_at(status, "CreateIoBinding")
        self._inputs = [(slot.info.name, slot.dtype, shape, _buffer(shape, slot.dtype)) for slot, shape in inputs]
        self._outputs = [_buffer(shape, slot.dtype) for slot, shape in outputs]
        try:
            for (slot, _), (_, _, _, buffer) in zip(inputs, self._inputs, strict=True):
                bind_array(native, "BindInput", self._binding, slot.info.name, buffer, slot.code)
            for (slot, _), buffer in zip(outputs, self._outputs, strict=True):
                bind_array(native, "BindOutput", self._binding, slot.info.name, buffer, slot.code)
            self.run = prepared_run(native, session, self._binding)
        except BaseException:
            self.close()
            raise

    def fill(self, feeds: Mapping[str, Any]) -> bool:
        if len(feeds) != len(self._inputs):
            return False
        for name, dtype, shape, buffer in self._inputs:
            array = feeds.get(name)
            # Exactly ndarray: a subclass may mean something else by assignment.
            if array.__class__ is not np.ndarray or array.dtype != dtype or array.shape != shape:
                return False
            buffer[...] = array
        return True

    def results(self) -> list[Any]:
        return [buffer.copy() for buffer in self._outputs]

    def close(self) -> None:
        self._native.quick.ReleaseIoBinding(self._binding)


class PointingPlan(Plan):
    """Large feeds are used where they are, and large results written into new arrays."""

    __slots__ = ("_arguments", "_arrays", "_inputs", "_native", "_outputs", "_values")

    def __init__(self, native: Native, session: Any, inputs: _Shaped, outputs: _Shaped) -> None:
        self._native = native
        self._values = (ctypes.c_void_p * (len(inputs) + len(outputs)))()
        place, step = ctypes.addressof(self._values), ctypes.sizeof(ctypes.c_void_p)
        places = range(place, place + step * len(self._values), step)
        self._inputs = [_Described(*item, at) for item, at in zip(inputs, places, strict=False)]
        self._outputs = [_Described(*item, at) for item, at in zip(outputs, places[len(inputs) :], strict=True)]
        names = [strings([slot.info.name for slot, _ in part]) for part in (inputs, outputs)]
        counts = len(inputs), len(outputs)
        self._arguments = session, None, names[0], place, counts[0], names[1], counts[1], place + step * counts[0]
        self._arrays: list[Any] = []

    def fill(self, feeds: Mapping[str, Any]) -> bool:
        if len(feeds) != len(self._inputs):
            return False
        arrays = []
        for item in self._inputs:
            array = feeds.get(item.name)
            if array.__class__ is not np.ndarray or array.dtype != item.dtype or array.shape != item.shape:
                return False
            if not (array.flags.c_contiguous and array.flags.aligned):
                return False
            arrays.append(array)
        self._arrays = arrays
        return True

    def run(self) -> Any:
        fed, self._arrays = self._arrays, [np.empty(item.shape, item.dtype) for item in self._outputs]
        quick, values = self._native.quick, self._values
        create, memory = quick.CreateTensorWithDataAsOrtValue, self._native.cpu_memory
        try:
            for items, arrays in ((self._inputs, fed), (self._outputs, self._arrays)):
                for item, array in zip(items, arrays, strict=True):
                    status = create(memory, address_of(array), *item.arguments)
                    if status:
                        return status
            status = quick.Run(*self._arguments)
            if status:
                self._arrays = []
            return status
        finally:
            for place, value in enumerate(values):
                quick.ReleaseValue(value)
                values[place] = None

    def results(self) -> list[Any]:
        arrays, self._arrays = self._arrays, []
        return arrays

    def close(self) -> None:
        """Nothing is held between runs."""


class _Described:
    """A slot with a shape, and how to make its OrtValue: the arguments after the address of its memory."""

    __slots__ = ("arguments", "dtype", "name", "shape")

    def __init__(self, slot: Slot, shape: tuple[int, ...], place: int) -> None:
        self.name, self.dtype, self.shape = slot.info.name, slot.dtype, shape
        size = slot.dtype.itemsize
        for dimension in shape:
            size *= dimension
        self.arguments = size, int64_array(shape), len(shape), slot.code, place


def _buffer(shape: tuple[int, ...], dtype: Any) -> Any:
    """An array in the middle of a page: where source and target are a few bytes apart modulo a page, as new arrays of
    some kilobytes tend to be, processors that copy with one instruction take ten times as long."""
    page, size = 4096, int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    memory = np.empty(size + page, np.uint8)
    start = (page // 2 - memory.ctypes.data) % page
    return memory[start : start + size].view(dtype).reshape(shape)
