"""The environment: ORT keeps one a process, and hands the same one to everybody who asks."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..core.handle import Handle
from ..core.marshal import string
from ..core.native import Native
from .logging import log_level, log_trampoline
from .settings import count

__all__ = ["Environment"]


class Environment(Handle):
    """An OrtEnv whose log goes to the Python logger "onnxruntime".

    Args:
        native: the library.
        name: the log id.
        level: the least severe level that ORT logs, by number or name.
        intra_op_threads: with ``inter_op_threads``: thread pools that all sessions share, of that many threads (0:
            ORT chooses). None: each session makes its own. The first environment of a process decides.
    """

    def __init__(
        self,
        native: Native,
        name: str = "ortcache",
        level: int | str = "warning",
        *,
        intra_op_threads: int | None = None,
        inter_op_threads: int | None = None,
    ) -> None:
        self.native = native
        out = ctypes.POINTER(raw.OrtEnv)()
        severity, logid = log_level(level), string(name, "environment name")
        if intra_op_threads is None and inter_op_threads is None:
            native.api.CreateEnvWithCustomLogger(log_trampoline(), None, severity, logid, ctypes.byref(out))
        else:
            with_pools = native.api.CreateEnvWithCustomLoggerAndGlobalThreadPools
            intra = count(intra_op_threads or 0, "intra_op_threads")
            inter = count(inter_op_threads or 0, "inter_op_threads")
            pools = _threading_options(native, intra, inter)
            try:
                with_pools(log_trampoline(), None, severity, logid, pools, ctypes.byref(out))
            finally:
                native.api.ReleaseThreadingOptions(pools)
        super().__init__(out, native.api.raw.ReleaseEnv)

    def set_log_level(self, level: int | str) -> None:
        """Change the least severe level that ORT logs."""
        self.native.api.UpdateEnvWithCustomLogLevel(self, log_level(level))


def _threading_options(native: Native, intra: int, inter: int) -> Any:
    options = ctypes.POINTER(raw.OrtThreadingOptions)()
    native.api.CreateThreadingOptions(ctypes.byref(options))
    try:
        native.api.SetGlobalIntraOpNumThreads(options, intra)
        native.api.SetGlobalInterOpNumThreads(options, inter)
    except BaseException:
        native.api.ReleaseThreadingOptions(options)
        raise
    return options
