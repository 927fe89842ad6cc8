"""The short way through a run: small feeds copied into buffers that are bound once, small results copied out.

A plan serves one signature (the feeds' element types and shapes, all outputs) and one thread at a time. Binding costs
more than such a run, and so does making OrtValues for each; past some tens of kilobytes copying costs more.
"""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..core.native import Native
from .iobinding import IoBinding
from .typeinfo import Kind, TypeInfo, ValueInfo

__all__ = ["LIMIT", "Plans", "output_shapes", "unchecked_run"]

#: Bytes of all inputs and outputs together, past which copying is not the short way.
LIMIT = 32 * 1024

#: Plans that a session keeps: one a signature, and one more for each thread that runs it at the same time.
MOST = 16


class Plan:
    """Bound buffers for one signature.

    Attributes:
        inputs: (name, dtype, shape, buffer) of each.
        outputs: the buffers of the outputs.
        run: runs the model over the buffers; None for success, or an OrtStatus's address.
    """

    __slots__ = ("binding", "count", "inputs", "outputs", "run")

    def __init__(self, session: Any, feeds: Mapping[str, Any], outputs: list[tuple[str, Any]]) -> None:
        self.inputs = [(name, a.dtype, a.shape, np.empty(a.shape, a.dtype)) for name, a in feeds.items()]
        self.outputs = [array for _, array in outputs]
        self.count = len(self.inputs)
        self.binding = IoBinding(session)
        for name, _, _, buffer in self.inputs:
            self.binding.bind_input(name, buffer)
        for name, array in outputs:
            self.binding.bind_output(name, array)
        self.run = unchecked_run(session, self.binding)

    def matches(self, feeds: Mapping[str, Any]) -> bool:
        """Copy the feeds in, if they are of this plan's signature."""
        if len(feeds) != self.count:
            return False
        for name, dtype, shape, buffer in self.inputs:
            array = feeds.get(name)
            # Exactly ndarray: a subclass may mean something else by assignment.
            if array.__class__ is not np.ndarray or array.dtype != dtype or array.shape != shape:  # type: ignore[union-attr]
                return False
            buffer[...] = array
        return True


class Plans:
    """The plans of one session. A plan that is in use is not in the list, so no two threads have the same one."""

    def __init__(self, session: Any) -> None:
        self._owner = weakref.ref(session)  # a session that is dropped without `close` goes at once
        self._idle: list[Plan] = []
        self._made = 0

    def run(self, feeds: dict[str, Any]) -> list[Any] | None:
        """Run over a plan of the feeds' signature; None where there is none, or where it fails."""
        try:
            plan = self._idle.pop()  # atomic
        except IndexError:
            return None
        if not plan.matches(feeds):
            self._idle.insert(0, plan)
            found = self._find(feeds)
            if found is None:
                return None
            plan = found
        status = plan.run()
        if status:
            self._give_up(status)
            return None
        results = [array.copy() for array in plan.outputs]
        self._idle.append(plan)
        return results

    def learn(self, feeds: Mapping[str, Any], results: list[Any]) -> None:
        """Make a plan for the next run of this signature, where it would pay."""
        session = self._owner()
        if session is None or self._made >= MOST or not _small_arrays([*feeds.values(), *results]):
            return
        if not all(_plain(session._feeds[name].info, array) for name, array in feeds.items()):
            return
        shapes = output_shapes(session.inputs, session.outputs, feeds)
        if shapes != [array.shape for array in results]:
            return
        buffers = [(info.name, np.empty(a.shape, a.dtype)) for info, a in zip(session.outputs, results, strict=True)]
        self._made += 1
        self._idle.append(Plan(session, feeds, buffers))

    def close(self) -> None:
        while self._idle:
            self._idle.pop().binding.close()

    def _find(self, feeds: dict[str, Any]) -> Plan | None:
        for plan in list(self._idle):
            try:
                self._idle.remove(plan)
            except ValueError:  # another thread took it
                continue
            if plan.matches(feeds):
                return plan
            self._idle.insert(0, plan)
        return None

    def _give_up(self, status: int) -> None:
        """The model's outputs are not of the shapes that it promises, or the run fails: the long way says which."""
        session = self._owner()
        if session is not None:
            session.native.statuses.error_at(status, "RunWithBinding")  # releases it
        self._made = MOST


def _small_arrays(arrays: list[Any]) -> bool:
    return all(type(a) is np.ndarray for a in arrays) and sum(a.nbytes for a in arrays) <= LIMIT


def _plain(info: TypeInfo, array: Any) -> bool:
    element = info.element
    return info.shape is not None and element is not None and element.plain and array.dtype == element.dtype


def unchecked_run(session: Any, binding: IoBinding) -> Any:
    """RunWithBinding with its arguments in place: a call that gives an OrtStatus's address or None."""
    native: Native = session.native
    address = ctypes.cast(native.api.raw.RunWithBinding, ctypes.c_void_p).value
    function = native.function_type(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)(address)
    arguments = [ctypes.cast(p, ctypes.c_void_p).value for p in (session._pointer, binding._pointer)]
    return functools.partial(function, arguments[0], None, arguments[1])


def output_shapes(
    inputs: tuple[ValueInfo, ...], outputs: tuple[ValueInfo, ...], feeds: Mapping[str, Any]
) -> list[tuple[int, ...]] | None:
    """The outputs' shapes, where the model says that the inputs' shapes fix them; else None."""
    known: dict[str, int] = {}
    for info in inputs:
        if info.name in feeds and not _learn(known, info.info, feeds[info.name].shape):
            return None
    shapes = []
    for info in outputs:
        shape = _resolve(info.info, known)
        if shape is None:
            return None
        shapes.append(shape)
    return shapes


def _learn(known: dict[str, int], info: TypeInfo, shape: tuple[int, ...]) -> bool:
    """Take the sizes of the symbolic dimensions; false where one name would have two."""
    if info.shape is None or len(info.shape) != len(shape):
        return info.shape is None
    return all(known.setdefault(d, n) == n for d, n in zip(info.shape, shape, strict=True) if isinstance(d, str))


def _resolve(info: TypeInfo, known: Mapping[str, int]) -> tuple[int, ...] | None:
    if info.kind != Kind.ONNX_TYPE_TENSOR or info.element is None or not info.element.plain or info.shape is None:
        return None
    sizes = [known.get(d) if isinstance(d, str) else d for d in info.shape]
    if any(size is None for size in sizes):
        return None
    return tuple(size for size in sizes if size is not None)
