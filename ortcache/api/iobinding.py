"""OrtIoBinding: inputs and outputs tied to a session before it runs."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..core.handle import Handle
from ..core.marshal import string
from .element import element_of
from .value import Value, tensor_over

__all__ = ["IoBinding"]


class IoBinding(Handle):
    """The C object. What is bound to it is held until something else is bound under that name."""

    def __init__(self, session: Any) -> None:
        self.native = session.native
        out = ctypes.POINTER(raw.OrtIoBinding)()
        self.native.api.CreateIoBinding(session, ctypes.byref(out))
        super().__init__(out, self.native.api.raw.ReleaseIoBinding, parents=[session])
        self._held: dict[str, Any] = {}

    def bind_input(self, name: str, data: Any) -> None:
        """Bind a C-contiguous array, which is not copied, or a `Value`."""
        self._bind(self.native.api.BindInput, "input", name, data)

    def bind_output(self, name: str, data: Any) -> None:
        """Bind the array or `Value` that the output is written into; None: ORT allocates it at each run."""
        if data is None:
            self.native.api.BindOutputToDevice(self, string(name, "output name"), self.native.cpu_memory)
            self._held.pop(f"output {name}", None)
        else:
            self._bind(self.native.api.BindOutput, "output", name, data)

    def output_values(self) -> list[Value]:
        """The outputs after a run, in the order in which they were bound."""
        out, count = ctypes.POINTER(ctypes.POINTER(raw.OrtValue))(), ctypes.c_size_t()
        allocator = self.native.cpu_allocator
        self.native.api.GetBoundOutputValues(self, allocator, ctypes.byref(out), ctypes.byref(count))
        if not count.value:
            return []
        try:
            return [Value(self.native, _own(out[i])) for i in range(count.value)]
        finally:
            self.native.api.AllocatorFree(allocator, out)

    def _bind(self, function: Any, kind: str, name: str, data: Any) -> None:
        if isinstance(data, Value):
            value, held = data._pointer, data
        else:
            value = tensor_over(self.native, data, data.shape, element_of(data.dtype))
            # ORT keeps the tensor; the memory behind it is the array's.
            held = Value(self.native, value, keep=(data,))
        function(self, string(name, f"{kind} name"), value)
        self._held[f"{kind} {name}"] = held


def _own(pointer: Any) -> Any:
    """A pointer of its own: indexing gives one that looks into the array, which is freed."""
    return ctypes.cast(ctypes.cast(pointer, ctypes.c_void_p).value or 0, type(pointer))
