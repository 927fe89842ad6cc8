"""A prepared run: everything is in place before it, and nothing is allocated during it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import ClosedError, InputError
from .convert import feed_value
from .iobinding import IoBinding, prepared_run
from .reading import read
from .run_options import RunOptions
from .shapes import output_shapes
from .signature import Slot
from .value import Value

__all__ = ["Binding"]


class Binding:
    """Inputs and outputs tied to a session. `Session.bind` makes it. One thread at a time may run it.

    Attributes:
        inputs: input name to the array or `Value` that is bound.
    """

    def __init__(self, session: Any, inputs: dict[str, Any], outputs: Mapping[str, Any] | Sequence[str] | None) -> None:
        self.session = session
        slots, _, given = session._ins.choose(inputs)
        self.inputs = {slot.info.name: _input(session.native, slot, given[slot.info.name]) for slot in slots}
        self._outputs = self._choose_outputs(outputs)
        self._io = IoBinding(session)
        for slot in slots:
            self._io.bind("BindInput", slot.info.name, self.inputs[slot.info.name], slot.code)
        self._allocating = []
        for name, data in self._outputs.items():
            if data is None:
                self._allocating.append(self._io.allocating(name))
                self._check(self._allocating[-1](), "BindOutputToDevice")  # now, for the order
            else:
                self._io.bind("BindOutput", name, data, session._outs.slots[name].code)
        # Whoever has taken this out may run: ORT does not stand two runs of one binding at once.
        self._free = [prepared_run(session.native, session._pointer, self._io._pointer)]

    def run(self, run_options: RunOptions | None = None) -> None:
        """Run the model over what is bound; the outputs are in `outputs` then.

        Raises:
            OrtError: ORT refuses, or a kernel fails.
            ClosedError: the binding or its session is closed.
            RuntimeError: another thread is running it.
        """
        call = self._take()
        users = self._io._users
        users.append(None)  # it stays until this run is over, whatever another thread does
        try:
            if self._io._closed or self.session._closed:
                raise ClosedError("this Binding, or its Session, is closed")
            for bind in self._allocating:
                self._check(bind(), "BindOutputToDevice")
            if run_options is None:
                statuses = self.session.native.statuses
                status = statuses.call(call, ())  # callbacks may come within
                try:
                    self._check(status, "RunWithBinding")
                finally:
                    statuses.settle()
            else:
                self._run_with(run_options)
        finally:
            users.pop()
            self._free.append(call)
            if self._io._closed:
                self._io._settle()

    @property
    def outputs(self) -> dict[str, Any]:
        """Output name to its array: the same one after every run where it is bound, else a new one after each."""
        if not any(data is None for data in self._outputs.values()):
            return {name: data.numpy() if isinstance(data, Value) else data for name, data in self._outputs.items()}
        call = self._take()
        try:
            values = self._io.output_values()
        finally:
            self._free.append(call)
        return {
            name: self._read(name, value) if data is None else data.numpy() if isinstance(data, Value) else data
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

    def _take(self) -> Any:
        try:
            return self._free.pop()  # atomic
        except IndexError:
            raise RuntimeError("another thread is running this binding: make one for each thread") from None

    def _check(self, status: int | None, function: str) -> None:
        if status:
            raise self.session.native.statuses.error_at(status, function)

    def _read(self, name: str, value: Any) -> Any:
        result = read(self.session.native, value.address, value)
        # An input that is handed through comes back as the caller's own memory.
        return result.copy() if isinstance(result, np.ndarray) and name in self.session._outs.passed else result

    def _run_with(self, options: RunOptions) -> None:
        pointer = options._enter()
        try:
            session = self.session
            session.native.api.RunWithBinding(session._record.pointer, pointer, self._io._record.pointer)
        finally:
            options._leave()

    def _choose_outputs(self, outputs: Mapping[str, Any] | Sequence[str] | None) -> dict[str, Any]:
        """Output name to the array or Value to write into, or to None."""
        chosen = self.session._outs.choose(outputs)[0]
        given = outputs if isinstance(outputs, Mapping) else {}
        return {slot.info.name: self._output(slot, given) for slot in chosen}

    def _output(self, slot: Slot, given: Mapping[str, Any]) -> Any:
        name, data = slot.info.name, given.get(slot.info.name)
        passed = name in self.session._outs.passed
        shape = self._shape(slot)
        if data is None:
            make = shape is not None and name not in given and not passed
            return np.zeros(shape, slot.dtype) if make and shape is not None else None
        if passed:
            raise InputError(f"output {name!r} is an input that is handed through, and not written: bind None")
        return data if isinstance(data, Value) else _usable_output(slot, data, shape)

    def _shape(self, slot: Slot) -> tuple[int, ...] | None:
        given = {name: data.shape for name, data in self.inputs.items() if isinstance(data, np.ndarray)}
        shapes = output_shapes(self.session.inputs, [slot.info], given)
        return shapes[0] if shapes else None


def _input(native: Any, slot: Slot, data: Any) -> Any:
    """The array to use in place, or a Value."""
    in_place = isinstance(data, np.ndarray) and not isinstance(data, np.ma.MaskedArray) and slot.plain
    if not in_place or data.dtype.newbyteorder("=") != slot.dtype:
        # What numpy's memory cannot be used for (strings, sequences, packed types) is converted once.
        fed = feed_value(native, slot.info, data)
        return fed if isinstance(fed, Value) else Value.of(native, fed)
    if data.dtype == slot.dtype and data.flags.c_contiguous and data.flags.aligned:
        return data
    raise InputError(
        f"input {slot.info.name!r}: a bound array is used in place, and this one is not C-contiguous and aligned in "
        f"this machine's byte order; bind numpy.array(array, {slot.dtype.name!r}, order='C')"
    )


def _usable_output(slot: Slot, data: Any, shape: tuple[int, ...] | None) -> Any:
    name = slot.info.name
    if not isinstance(data, np.ndarray) or isinstance(data, np.ma.MaskedArray):
        raise TypeError(f"output {name!r}: bind an array, a Value or None, not {type(data).__name__}")
    if not slot.plain or data.dtype != slot.dtype:
        raise InputError(f"output {name!r} is {slot.info.type}: an array of {data.dtype} cannot take it")
    if not data.flags.carray:
        raise InputError(f"output {name!r}: the array must be C-contiguous, aligned and writeable")
    if shape is not None and data.shape != shape:
        raise InputError(f"output {name!r} will be of shape {shape}; the array's is {data.shape}")
    return data
