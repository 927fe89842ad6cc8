"""A prepared run: everything is in place before it, and nothing is allocated during it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ClosedError, InputError
from .convert import feed_value
from .element import element_of
from .iobinding import IoBinding
from .plan import output_shapes, unchecked_run
from .run_options import RunOptions
from .typeinfo import Kind, ValueInfo
from .value import Value

__all__ = ["Binding"]


class Binding:
    """Inputs and outputs tied to a session. `Session.bind` makes it. One thread at a time may run it.

    Attributes:
        inputs: input name to the array or `Value` that is bound.
    """

    def __init__(self, session: Any, inputs: dict[str, Any], outputs: Mapping[str, Any] | Sequence[str] | None) -> None:
        self.session = session
        self.inputs = {name: _input(session, name, data) for name, data in inputs.items()}
        missing = [info.name for info in session.inputs if info.name not in inputs]
        if missing:
            raise InputError(f"the model needs the inputs {', '.join(missing)} too: bind all of them")
        self._io = IoBinding(session)
        for name, data in self.inputs.items():
            self._io.bind_input(name, data)
        self._outputs = self._choose_outputs(outputs)
        for name, data in self._outputs.items():
            self._io.bind_output(name, data)
        self._call = unchecked_run(session, self._io)
        self._users = session._users

    def run(self, run_options: RunOptions | None = None) -> None:
        """Run the model over what is bound; the outputs are in `outputs` then.

        Raises:
            OrtError: ORT refuses, or a kernel fails.
            ClosedError: the binding or its session is closed.
        """
        users = self._users
        users.append(None)  # the session stays until this run is over, whatever another thread does
        try:
            if self._io._closed or self.session._closed:
                raise ClosedError("this Binding, or its Session, is closed")
            if run_options is None:
                status = self._call()
                if status:
                    raise self.session.native.statuses.error_at(status, "RunWithBinding")
            else:
                self._run_with(run_options)
        finally:
            users.pop()
            if self.session._closed:
                self.session._settle()

    @property
    def outputs(self) -> dict[str, Any]:
        """Output name to its array: the same one after every run where it is bound, else a new one after each."""
        if all(data is not None for data in self._outputs.values()):
            return {name: data.numpy() if isinstance(data, Value) else data for name, data in self._outputs.items()}
        values = self._io.output_values()
        return {
            name: value.numpy() if data is None or isinstance(data, Value) else data
            for (name, data), value in zip(self._outputs.items(), values, strict=True)
        }

    def close(self) -> None:
        """Undo the binding. The arrays stay as they are."""
        self._io.close()

    def __enter__(self) -> Binding:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ortcache.Binding {', '.join(self.inputs)} -> {', '.join(self._outputs)}>"

    def _run_with(self, options: RunOptions) -> None:
        pointer = options._enter()
        try:
            self.session.native.api.RunWithBinding(self.session._record.pointer, pointer, self._io)
        finally:
            options._leave()

    def _choose_outputs(self, outputs: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
        """Output name to the array or Value to write into, or to None."""
        infos = {info.name: info for info in self.session.outputs}
        if outputs is None or not isinstance(outputs, Mapping):
            if isinstance(outputs, str):
                raise TypeError("the outputs must be a list of names or a dict, not one string")
            names = list(infos) if outputs is None else list(outputs)
            _check_names(names, infos)
            return {name: self._array_for(infos[name]) for name in names}
        _check_names(list(outputs), infos)
        return {name: _output(infos[name], data) for name, data in outputs.items()}

    def _array_for(self, info: ValueInfo) -> Any:
        arrays = {name: data for name, data in self.inputs.items() if isinstance(data, np.ndarray)}
        shapes = output_shapes(self.session.inputs, (info,), arrays)
        if shapes is None or info.info.element is None:
            return None
        return np.zeros(shapes[0], info.info.element.dtype)


def _check_names(names: list[str], infos: Mapping[str, ValueInfo]) -> None:
    for name in names:
        if name not in infos:
            raise InputError(f"the model has no output {name!r}; it has {', '.join(infos)}")


def _input(session: Any, name: str, data: Any) -> Any:
    info = session._feeds.get(name)
    if info is None:
        raise InputError(f"the model has no input {name!r}; it has {', '.join(session._feeds)}")
    if isinstance(data, Value):
        return data
    element = info.info.element
    if isinstance(data, np.ndarray) and info.info.kind == Kind.ONNX_TYPE_TENSOR and element is not None:
        native = data.dtype.newbyteorder("=")
        if element.plain and element.dtype == native:
            if data.dtype == native and data.flags.c_contiguous:
                return data
            raise InputError(
                f"input {name!r}: a bound array is used in place, and this one is not C-contiguous in this machine's "
                f"byte order; bind numpy.ascontiguousarray(array, {native.name!r})"
            )
    # What numpy's memory cannot be used for (strings, sequences, packed types) is converted once.
    return feed_value(session.native, info, data)


def _output(info: ValueInfo, data: Any) -> Any:
    if data is None or isinstance(data, Value):
        return data
    if not isinstance(data, np.ndarray):
        raise TypeError(f"output {info.name!r}: bind an array, a Value or None, not {type(data).__name__}")
    element = info.info.element
    if element is None or not element.plain or element_of(data.dtype).code != element.code:
        raise InputError(f"output {info.name!r} is {info.type}: an array of {data.dtype} cannot take it")
    if not data.flags.c_contiguous or not data.flags.writeable:
        raise InputError(f"output {info.name!r}: the array must be C-contiguous and writeable")
    return data
