"""Sessions: a model loaded and ready to run."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from ..core.handle import Handle
from ..core.marshal import key_values
from ..errors import OrtError
from .binding import Binding
from .env import Environment
from .feeding import Feeds
from .metadata import ModelMetadata, read_metadata
from .model import create_session
from .options import SessionOptions
from .plans import Plans
from .reading import has_value, read
from .run_options import RunOptions
from .signature import Inputs, Outputs, Slot
from .tensor import Result, address_array, read_tensor
from .typeinfo import read_infos

__all__ = ["Session"]

T = TypeVar("T")


class Session(Handle):
    """An OrtSession. Any number of threads may run it at once.

    A forked child may go on with a session of one thread; the child must end as multiprocessing's do, by ``os._exit``:
    at a normal exit ORT waits for threads that it does not have there.

    Args:
        env: the environment.
        model: a path, or the model's bytes.
        options: session options; they are read once, and a later change to them is not seen.

    Attributes:
        inputs: what it takes.
        outputs: what it gives.
        overridable_initializers: initializers that a feed of their name replaces.

    Raises:
        OrtError: ORT cannot load the model.
        InputError: the model is empty.
    """

    def __init__(
        self,
        env: Environment,
        model: str | os.PathLike[Any] | bytes | bytearray | memoryview,
        options: SessionOptions,
    ) -> None:
        self.native = native = env.native
        kept = options.keep_for_session()
        try:
            pointer, keep = create_session(env, model, options)
            release = native.api.raw.ReleaseSession
            try:
                self.inputs = read_infos(native, pointer, "Input")
                self.outputs = read_infos(native, pointer, "Output")
                self.overridable_initializers = read_infos(native, pointer, "OverridableInitializer")
                self._ins = Inputs(self.inputs, self.overridable_initializers)
                self._outs = Outputs(self.outputs, self._ins)
                self._names = list(self._outs.names)
                self._plans = Plans(native, self._ins, self._outs)
            except BaseException:
                release(pointer)
                raise
            # The plans go with the C object, not with this wrapper: a run may still be on one when it is closed.
            close = functools.partial(_release, self._plans, release)
            super().__init__(pointer, close, parents=[env], keep=(kept, keep))
        finally:
            # An exception, also one of a callback that was caught there, leads to this frame: whoever holds it must not
            # keep the devices in use.
            del kept

    # Running.

    def run(
        self,
        output_names: Sequence[str] | Mapping[str, Any] | None = None,
        input_feed: Mapping[str, Any] | None = None,
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Run the model.

        ``run(feeds)`` gives all outputs; ``run(names, feeds)`` is onnxruntime's own way to call it.

        Args:
            output_names: which outputs, in which order; None or empty for all.
            input_feed: input name to an array (a list or number is made one), a list for a sequence, a dict for a
                map, None for an optional without a value, or a `Value`.
            run_options: log level, tag, termination.

        Returns:
            An array, list, dict or None for each output, the caller's own.

        Raises:
            InputError: an input is missing, unknown or of another type; an output is unknown.
            OrtError: ORT refuses a shape, or a kernel fails.
            ClosedError: the session is closed.
        """
        if input_feed is None and (output_names.__class__ is dict or isinstance(output_names, Mapping)):
            input_feed, output_names = output_names, None
        users = self._users
        users.append(None)  # as `_enter` does: this is the path that has to be short
        try:
            if self._closed:
                _ = self._pointer  # raises
            everything = not output_names or output_names == self._names
            if everything and run_options is None and input_feed.__class__ is dict:
                results = self._plans.run(input_feed)
                if results.__class__ is list:
                    self.native.statuses.settle()
                    return results
                if results is not None:
                    return self._run_again(results, input_feed)
            return self._run(output_names, input_feed, run_options)
        finally:
            users.pop()
            if self._closed:
                self._settle()

    def bind(
        self, inputs: Mapping[str, Any] | None = None, outputs: Mapping[str, Any] | Sequence[str] | None = None
    ) -> Binding:
        """Tie inputs and outputs to the session once, to run many times without allocating.

        Args:
            inputs: input name to a C-contiguous array of the right type, which is used in place (write new data into
                it between runs), or to a `Value`. Other data is converted once.
            outputs: output name to the array or `Value` to write into, or to None where ORT shall allocate; or just
                names; None for all. Where the inputs fix an output's shape, its array is made here.
        """
        return Binding(self, dict(inputs or {}), outputs)

    def _run(self, names: Any, given: Any, options: RunOptions | None) -> list[Any]:
        """The long way."""
        if not isinstance(given, Mapping):
            raise TypeError(f"the feeds must be a dict of input name to value, not {type(given).__name__}")
        slots, names_for_c = self._outs.choose(names)
        feeds = Feeds(self.native, self._ins, given)
        try:
            values = address_array(len(slots))()
            self._call(feeds, names_for_c, values, options)
            release = self.native.quick.ReleaseValue
            owners = [Result(value or 0, release) for value in values]
            results = [self._result(slot, owner) for slot, owner in zip(slots, owners, strict=True)]
            if feeds.plain and options is None and names_for_c is self._outs.c_names:
                self._plans.learn(self._record.pointer, feeds.arrays, results)
            return results
        finally:
            feeds.release()

    def _call(self, feeds: Feeds, names: Any, values: Any, options: RunOptions | None) -> None:
        native, pointer = self.native, self._record.pointer
        run_options = None if options is None else options._enter()
        try:
            arguments = feeds.names, feeds.values, feeds.count, names, len(values), values
            status = native.statuses.call(native.quick.Run, (pointer, run_options, *arguments))
        finally:
            if options is not None:
                options._leave()
        try:
            if status:
                raise native.statuses.error_at(status, "Run")  # not by a name, which would hold it in a circle
        finally:
            native.statuses.settle()

    def _result(self, slot: Slot, owner: Result) -> Any:
        if slot.plain:
            try:
                result = read_tensor(self.native, owner.address, owner)
            except OrtError:
                if has_value(self.native, owner.address):
                    raise
                return None
        else:
            result = read(self.native, owner.address, owner)
        # A feed that is handed through comes back as the caller's own memory.
        return result.copy() if isinstance(result, np.ndarray) and slot.info.name in self._outs.passed else result

    def _run_again(self, status: int, feeds: Any) -> list[Any]:
        """A prepared run failed. The long way says why; or it works, since the outputs are not of the shapes that the
        model promises."""
        failure = self.native.statuses.error_at(status, "Run")
        try:
            if failure.__cause__ is not None:  # of a callback, which need not fail twice
                raise failure
        finally:
            del failure  # it would hold itself in a circle
        results = self._run(None, feeds, None)
        self._plans.forbid()
        return results

    # Asking.

    @property
    def metadata(self) -> ModelMetadata:
        """The model's metadata."""
        return self._use(lambda pointer: read_metadata(self.native, pointer))

    def set_ep_dynamic_options(self, options: Mapping[str, object]) -> None:
        """Change options of the session's execution providers while it is in use."""
        arguments = key_values(options)
        self._use(lambda pointer: self.native.api.SetEpDynamicOptions(pointer, *arguments))

    def end_profiling(self) -> str:
        """Stop profiling, and give the name of the file with the profile."""
        out, allocator = ctypes.POINTER(ctypes.c_char)(), self.native.cpu_allocator
        self._use(lambda pointer: self.native.api.SessionEndProfiling(pointer, allocator, ctypes.byref(out)))
        return self.native.take_string(out)

    @property
    def profiling_start_ns(self) -> int:
        """When profiling started, in nanoseconds of a clock that only differences of make sense of."""
        out, function = ctypes.c_uint64(), self.native.api.SessionGetProfilingStartTimeNs
        self._use(lambda pointer: function(pointer, ctypes.byref(out)))
        return out.value

    def __repr__(self) -> str:
        if self._closed:
            return "<ortcache.Session, closed>"
        described = [", ".join(f"{i.name}: {i.type} {i.shape}" for i in infos) for infos in (self.inputs, self.outputs)]
        return f"<ortcache.Session ({described[0]}) -> ({described[1]})>"

    def _use(self, function: Callable[[Any], T]) -> T:
        """What a function of the C object gives; the object stays until it is done."""
        pointer = self._enter()
        try:
            return function(pointer)
        finally:
            self._leave()


def _release(plans: Plans, release: Any, pointer: Any) -> None:
    plans.close()
    release(pointer)
