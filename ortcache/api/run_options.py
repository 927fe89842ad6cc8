"""Run options: what is special about one run, and how another thread ends it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from typing import Any

from .. import raw
from ..core.handle import Handle, Hold
from ..core.marshal import path_argument, string
from ..core.native import Native
from ..errors import InputError
from .env import Environment
from .optionbase import Options
from .settings import Setting, count, severity, text

__all__ = ["LoraAdapter", "RunOptions"]


def _read_int(function: str) -> Any:
    def read(options: Any) -> int:
        out = ctypes.c_int()
        options._call(function, ctypes.byref(out))
        return out.value

    return read


def _read_tag(options: Any) -> str:
    out = ctypes.c_char_p()
    options._call("RunOptionsGetRunTag", ctypes.byref(out))
    return (out.value or b"").decode("utf-8", "replace")


class RunOptions(Options):
    """An OrtRunOptions. One may be used for several runs, also at once; `terminate` ends them all.

    Args:
        env: the environment. ORT logs into it, so it lasts as long as these options.
        config: config entries.
        settings: properties of this class by name.

    Raises:
        TypeError: no such setting, or a value of the wrong type.
        InputError: a value that cannot be.
    """

    _add_entry = "AddRunConfigEntry"
    _what = "run options"

    log_severity_level = Setting(
        -1,
        severity,
        lambda options, value: options._call("RunOptionsSetRunLogSeverityLevel", value),
        "Least severe level that is logged, by number or name; -1: the session's.",
        _read_int("RunOptionsGetRunLogSeverityLevel"),
    )
    log_verbosity_level = Setting(
        0,
        count,
        lambda options, value: options._call("RunOptionsSetRunLogVerbosityLevel", value),
        'How much a debug build logs at level "verbose".',
        _read_int("RunOptionsGetRunLogVerbosityLevel"),
    )
    logid = Setting(
        "",
        text,
        lambda options, value: options._call("RunOptionsSetRunTag", value.encode()),
        "The run's tag, which its log lines carry.",
        _read_tag,
    )

    def __init__(self, env: Environment, /, *, config: Mapping[str, object] | None = None, **settings: Any) -> None:
        out = ctypes.POINTER(raw.OrtRunOptions)()
        env.native.api.CreateRunOptions(ctypes.byref(out))
        self._own(env, out, env.native.api.raw.ReleaseRunOptions)
        self._set_all(config, settings)

    def terminate(self) -> None:
        """End every run with these options, soon: each raises an OrtError. Later runs end at once, until the reset."""
        self._call("RunOptionsSetTerminate")

    def reset_terminate(self) -> None:
        """Let these options be used for runs again."""
        self._call("RunOptionsUnsetTerminate")

    def add_active_adapter(self, adapter: LoraAdapter) -> None:
        """Run with the parameters of a LoRA adapter. It counts for `Session.run`, not for a binding."""
        if not isinstance(adapter, LoraAdapter):
            raise TypeError(f"an adapter must be a LoraAdapter, not {type(adapter).__name__}")
        self._call("RunOptionsAddActiveLoraAdapter", adapter)
        self._kept.always.append(Hold(adapter))

    def enable_profiling(self, prefix: str | os.PathLike[Any]) -> None:
        """Write a profile of each run, to a file of this path with a time and .json added (since 1.25)."""
        self._call("RunOptionsEnableProfiling", path_argument(prefix, "profile prefix"))

    def disable_profiling(self) -> None:
        """Undo `enable_profiling`."""
        self._call("RunOptionsDisableProfiling")

    def _config_value(self, key: str) -> str | None:
        name = string(key, "config key")
        if not self.native.api.raw.holds("GetRunConfigEntry"):
            return self._entries.get(key) if key in self._config_names() else None
        value = self._call("GetRunConfigEntry", name)
        return None if value is None else value.decode("utf-8", "replace")


class LoraAdapter(Handle):
    """The parameters of a LoRA adapter, for models whose inputs take them.

    Args:
        env: the environment.
        source: an .onnx_adapter file's path, or its bytes.

    Raises:
        OrtError: there is no such file, or it is no adapter.
    """

    def __init__(self, env: Environment, source: str | os.PathLike[Any] | bytes | bytearray | memoryview) -> None:
        self.native: Native = env.native
        out, api = ctypes.POINTER(raw.OrtLoraAdapter)(), env.native.api
        if isinstance(source, (bytes, bytearray, memoryview)):
            data = bytes(source)
            if not data:
                raise InputError("the adapter is empty: 0 bytes were given")
            api.CreateLoraAdapterFromArray(data, len(data), None, ctypes.byref(out))
        else:
            api.CreateLoraAdapter(path_argument(source, "adapter path"), None, ctypes.byref(out))
        super().__init__(out, api.raw.ReleaseLoraAdapter, parents=[env])
