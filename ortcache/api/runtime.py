"""A loaded ONNX Runtime, and everything made from it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Self

from ..core.loader import open_native
from ..core.native import Native
from ..core.table import Table
from ..locks import new_lock
from .compile import compile_model
from .device import EpDevice, ep_devices, register_ep_library, unregister_ep_library
from .env import Environment
from .logging import log_level as severity
from .options import SessionOptions
from .providers import available_providers
from .run_options import LoraAdapter, RunOptions
from .session import Session
from .settings import count
from .value import Value

__all__ = ["Runtime", "load"]


class Runtime:
    """One loaded library. `load` makes it.

    Attributes:
        native: what the wrappers stand on: tables, versions, statuses.
    """

    _options_type: type[SessionOptions] = SessionOptions
    _session_type: type[Session] = Session
    _open = staticmethod(open_native)

    def __init__(
        self,
        native: Native,
        log_level: int | str = "warning",
        *,
        intra_op_threads: int | None = None,
        inter_op_threads: int | None = None,
    ) -> None:
        self.native = native
        self._log_level = severity(log_level)
        threads = {"intra_op_threads": intra_op_threads, "inter_op_threads": inter_op_threads}
        self._threads = tuple(None if n is None else count(n, name) for name, n in threads.items())
        self._env: Environment | None = None
        self._lock = new_lock()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str] | None = None,
        *,
        api_version: int | None = None,
        log_level: int | str = "warning",
        intra_op_threads: int | None = None,
        inter_op_threads: int | None = None,
    ) -> Self:
        """Load ONNX Runtime.

        Args:
            path: a library file, or a folder that holds one. None: the file that ORTCACHE_LIBRARY names, else the
                installed onnxruntime wheel's, else the system's.
            api_version: the API version to speak; None: the highest that the library and these bindings know.
            log_level: the least severe level that ORT logs: "verbose", "info", "warning", "error" or "fatal". Its
                lines go to the Python logger "onnxruntime".
            intra_op_threads: with ``inter_op_threads``: make thread pools of that many threads (0: ORT chooses) that
                all sessions share.

        Raises:
            LibraryNotFoundError: no library was found; the message says where it was looked for.
            NotOnnxRuntimeError: the file is something else, or the system cannot load it.
            LibraryVersionError: the library is too old, or does not have ``api_version``.
        """
        native = cls._open(path, api_version)
        return cls(native, log_level, intra_op_threads=intra_op_threads, inter_op_threads=inter_op_threads)

    def __repr__(self) -> str:
        return f"<ortcache.Runtime: ONNX Runtime {self.version}, API version {self.api_version}, {self.library}>"

    @property
    def version(self) -> str:
        """The library's version, such as "1.32.0"."""
        return self.native.version

    @property
    def api_version(self) -> int:
        """The API version in use, such as 32."""
        return self.native.api_version

    @property
    def library(self) -> Path | None:
        """The library file; None for a copy of ONNX Runtime that was handed over by its address."""
        return self.native.choice.path if self.native.choice else None

    @property
    def api(self) -> Table:
        """Every function of the C API by its C name, checked; ``api.raw`` has them unchecked."""
        return self.native.api

    @property
    def env(self) -> Environment:
        """The environment, made on first use."""
        with self._lock:
            if self._env is None:
                intra, inter = self._threads
                self._env = Environment(
                    self.native, level=self._log_level, intra_op_threads=intra, inter_op_threads=inter
                )
            return self._env

    def explain(self) -> str:
        """Which library and API version are in use, and why."""
        lines = [f"ONNX Runtime {self.version}, API version {self.api_version}"]
        if self.native.choice:
            lines.append(f"library: {self.native.choice}")
            lines += [f"before it: {line}" for line in self.native.choice.tried]
        lines.append(f"the library has API versions up to {self.native.library_api_version}")
        return "\n".join(lines)

    def providers(self) -> list[str]:
        """The names of the execution providers that this library was built with, best first."""
        return available_providers(self.native)

    def session_options(self, **settings: Any) -> SessionOptions:
        """New session options; keywords are properties of `SessionOptions`."""
        if self._threads != (None, None):
            settings.setdefault("use_per_session_threads", False)  # that is what the shared pools are for
        return self._options_type(self.env, **settings)

    def session(
        self,
        model: str | os.PathLike[Any] | bytes | bytearray | memoryview,
        options: SessionOptions | None = None,
        **settings: Any,
    ) -> Session:
        """A session over a model: a path, or the model's bytes.

        Args:
            options: session options; with None, ``settings`` are properties of new ones.
        """
        if options is not None and settings:
            raise TypeError("give either session options or settings for new ones, not both")
        return self._session_type(self.env, model, options or self.session_options(**settings))

    def run_options(self, **settings: Any) -> RunOptions:
        """New run options; keywords are properties of `RunOptions`."""
        return RunOptions(self.env, **settings)

    def value(self, data: Any) -> Value:
        """An OrtValue over a numpy array (shared where its layout allows), or over anything numpy can make one of."""
        return Value.from_numpy(self.native, data)

    def ep_devices(self) -> list[EpDevice]:
        """The devices that registered execution providers offer."""
        return ep_devices(self.env)

    def register_ep_library(self, name: str, path: str | os.PathLike[Any]) -> list[EpDevice]:
        """Register a plugin execution provider's shared library; gives the devices that it offers."""
        return register_ep_library(self.env, name, path)

    def unregister_ep_library(self, name: str) -> None:
        """Undo `register_ep_library`. Close the sessions that use it first."""
        unregister_ep_library(self.env, name)

    def compile_model(
        self, model: Any, options: SessionOptions | None = None, output: Any = None, **settings: Any
    ) -> bytes | None:
        """Compile a model ahead of time; see `ortcache.api.compile.compile_model`."""
        return compile_model(self.env, model, options or self.session_options(), output, **settings)

    def lora_adapter(self, source: str | os.PathLike[Any] | bytes | bytearray | memoryview) -> LoraAdapter:
        """A LoRA adapter from a file or its bytes, for `RunOptions.add_active_adapter`."""
        return LoraAdapter(self.env, source)

    def close(self) -> None:
        """Close the environment. What was made from it goes on until it is closed itself."""
        with self._lock:
            if self._env is not None:
                self._env.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()


load = Runtime.load
