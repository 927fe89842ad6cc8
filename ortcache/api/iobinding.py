"""OrtIoBinding: inputs and outputs tied to a session before it runs."""

from __future__ import annotations

import ctypes
import functools
from typing import Any

from .. import raw
from ..core.handle import Handle, Hold
from ..core.marshal import string
from ..core.native import Native
from .tensor import Result, tensor_over
from .value import Value

__all__ = ["IoBinding", "bind_array", "prepared_run"]


def bind_array(native: Native, function: str, binding: Any, name: str, array: Any, code: int) -> None:
    """Tie an array that C can use as it is to a binding, as ``BindInput`` or ``BindOutput``.

    ORT keeps a tensor over it; the memory must last as long as the binding.
    """
    made = tensor_over(native, array, array.shape, code)
    try:
        status = getattr(native.quick, function)(binding, string(name), made)
        if status:
            raise native.statuses.error_at(status, function)
    finally:
        native.quick.ReleaseValue(made)


def prepared_run(native: Native, session: Any, binding: Any) -> Any:
    """RunWithBinding with its arguments in place: a call that gives an OrtStatus's address, or None."""
    return functools.partial(native.quick.RunWithBinding, _address(session), None, _address(binding))


class IoBinding(Handle):
    """The C object. What is bound to it stays until something else is bound under that name."""

    def __init__(self, session: Any) -> None:
        self.native: Native = session.native
        out = ctypes.POINTER(raw.OrtIoBinding)()
        pointer = session._enter()
        try:
            self.native.api.CreateIoBinding(pointer, ctypes.byref(out))
            super().__init__(out, self.native.api.raw.ReleaseIoBinding, parents=[session])
        finally:
            session._leave()
        self._held: dict[tuple[str, str], Any] = {}

    def bind(self, function: str, name: str, data: Any, code: int) -> None:
        """``BindInput`` or ``BindOutput`` of an array that C can use as it is, or of a `Value`."""
        if isinstance(data, Value):
            getattr(self.native.api, function)(self, string(name), data)
            self._held[function, name] = Hold(data)
        else:
            bind_array(self.native, function, self._pointer, name, data, code)
            self._held[function, name] = data

    def allocating(self, name: str) -> Any:
        """A call that lets ORT allocate the output at the next run. It gives an OrtStatus's address, or None.

        After that run ORT has the output bound, and would write the next one over it.
        """
        function, memory = self.native.quick.BindOutputToDevice, self.native.cpu_memory
        return functools.partial(function, _address(self._pointer), string(name), memory)

    def output_values(self) -> list[Result]:
        """The outputs after a run, in the order in which they were bound."""
        api, allocator = self.native.api, self.native.cpu_allocator
        out, count = ctypes.POINTER(ctypes.POINTER(raw.OrtValue))(), ctypes.c_size_t()
        pointer = self._enter()
        try:
            api.GetBoundOutputValues(pointer, allocator, ctypes.byref(out), ctypes.byref(count))
        finally:
            self._leave()
        if not count.value:
            return []
        release = self.native.quick.ReleaseValue
        try:
            return [Result(_address(out[place]), release) for place in range(count.value)]
        finally:
            api.AllocatorFree(allocator, out)


def _address(pointer: Any) -> int:
    # Not by ctypes.cast, which makes what it casts hold itself.
    return pointer.value or 0 if isinstance(pointer, ctypes.c_void_p) else ctypes.addressof(pointer.contents)
