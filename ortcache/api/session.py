"""Sessions: a model loaded and ready to run."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .. import raw
from ..core.handle import Handle
from ..core.marshal import key_values, pointers, strings
from ..errors import InputError
from .binding import Binding
from .convert import feed_value
from .env import Environment
from .metadata import ModelMetadata, read_metadata
from .model import create_session
from .options import SessionOptions
from .plan import Plans
from .run_options import RunOptions
from .typeinfo import ValueInfo, read_type_info
from .value import Value

__all__ = ["Session"]


class Session(Handle):
    """An OrtSession. Any number of threads may run it at once.

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
        self.native = env.native
        kept = options.keep_for_session()
        pointer, keep = create_session(env, model, options)
        super().__init__(pointer, self.native.api.raw.ReleaseSession, parents=[env], keep=(kept, keep))
        self.inputs = self._infos("Input")
        self.outputs = self._infos("Output")
        self.overridable_initializers = self._infos("OverridableInitializer")
        self._output_names = [info.name for info in self.outputs]
        self._feeds = {info.name: info for info in (*self.inputs, *self.overridable_initializers)}
        self._plans = Plans(self)

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
        """
        if input_feed is None and isinstance(output_names, Mapping):
            input_feed, output_names = output_names, None
        users = self._users
        users.append(None)  # as `_enter` does: this is the path that has to be short
        try:
            if self._closed:
                _ = self._pointer  # raises
            if run_options is None and not output_names and input_feed.__class__ is dict:
                results = self._plans.run(input_feed)  # type: ignore[arg-type]
                if results is not None:
                    return results
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
                it between runs), or to a `Value`.
            outputs: output name to the array or `Value` to write into, or to None where ORT shall allocate; or just
                names; None for all. Where the inputs fix an output's shape, its array is made here.
        """
        return Binding(self, dict(inputs or {}), outputs)

    def _run(
        self,
        names: Sequence[str] | Mapping[str, Any] | None,
        feeds: Mapping[str, Any] | None,
        options: RunOptions | None,
    ) -> list[Any]:
        if not isinstance(feeds, Mapping):
            raise TypeError(f"the feeds must be a dict of input name to value, not {type(feeds).__name__}")
        wanted = self._wanted(names)
        values = self._values(feeds)
        results = self._call(wanted, list(feeds), values, options)
        arrays = [value.numpy() for value in results]
        if wanted == self._output_names and options is None:
            self._plans.learn(feeds, arrays)
        return arrays

    def _call(
        self, wanted: list[str], given: list[str], values: list[Value], options: RunOptions | None
    ) -> list[Value]:
        results = (ctypes.POINTER(raw.OrtValue) * len(wanted))()
        arguments = strings(given), pointers(raw.OrtValue, values), len(values)
        run_options = options._enter() if options is not None else None
        try:
            self.native.api.Run(self._record.pointer, run_options, *arguments, strings(wanted), len(wanted), results)
        finally:
            if options is not None:
                options._leave()
        kind = ctypes.POINTER(raw.OrtValue)
        return [Value(self.native, ctypes.cast(ctypes.cast(r, ctypes.c_void_p), kind)) for r in results]

    def _wanted(self, names: Any) -> list[str]:
        if isinstance(names, str):
            raise TypeError("the output names must be a list of names, not one string")
        wanted = list(names) if names else self._output_names
        unknown = [name for name in wanted if name not in self._output_names]
        if unknown:
            raise InputError(f"the model has no output {unknown[0]!r}; it has {', '.join(self._output_names)}")
        return wanted

    def _values(self, feeds: Mapping[str, Any]) -> list[Value]:
        missing = [info.name for info in self.inputs if info.name not in feeds]
        if missing:
            raise InputError(f"the model needs the inputs {', '.join(missing)} too; {_described(feeds)} given")
        unknown = [name for name in feeds if name not in self._feeds]
        if unknown:
            raise InputError(f"the model has no input {unknown[0]!r}; it has {', '.join(self._feeds)}")
        return [feed_value(self.native, self._feeds[name], data) for name, data in feeds.items()]

    def _settle(self) -> None:
        if self._closed and not self._users:
            self._plans.close()  # each holds the session
            super()._settle()

    # Asking.

    @property
    def metadata(self) -> ModelMetadata:
        """The model's metadata."""
        return read_metadata(self.native, self._pointer)

    def set_ep_dynamic_options(self, options: Mapping[str, object]) -> None:
        """Change options of the session's execution providers while it is in use."""
        self.native.api.SetEpDynamicOptions(self, *key_values(options))

    def end_profiling(self) -> str:
        """Stop profiling, and give the name of the file with the profile."""
        out = ctypes.POINTER(ctypes.c_char)()
        self.native.api.SessionEndProfiling(self, self.native.cpu_allocator, ctypes.byref(out))
        return self.native.take_string(out)

    @property
    def profiling_start_ns(self) -> int:
        """When profiling started, in nanoseconds of a clock that only differences of make sense of."""
        out = ctypes.c_uint64()
        self.native.api.SessionGetProfilingStartTimeNs(self, ctypes.byref(out))
        return out.value

    def __repr__(self) -> str:
        if self._closed:
            return "<ortcache.Session, closed>"
        described = [", ".join(f"{i.name}: {i.type} {i.shape}" for i in infos) for infos in (self.inputs, self.outputs)]
        return f"<ortcache.Session ({described[0]}) -> ({described[1]})>"

    def _infos(self, what: str) -> tuple[ValueInfo, ...]:
        api, count = self.native.api, ctypes.c_size_t()
        getattr(api, f"SessionGet{what}Count")(self, ctypes.byref(count))
        infos = []
        for index in range(count.value):
            name, info = ctypes.POINTER(ctypes.c_char)(), ctypes.POINTER(raw.OrtTypeInfo)()
            getattr(api, f"SessionGet{what}Name")(self, index, self.native.cpu_allocator, ctypes.byref(name))
            text = self.native.take_string(name)
            getattr(api, f"SessionGet{what}TypeInfo")(self, index, ctypes.byref(info))
            try:
                infos.append(ValueInfo(text, read_type_info(self.native, info)))
            finally:
                api.ReleaseTypeInfo(info)
        return tuple(infos)


def _described(feeds: Mapping[str, Any]) -> str:
    return f"only {', '.join(map(str, feeds))} was" if feeds else "none was"
