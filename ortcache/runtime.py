"""A loaded ONNX Runtime with EP caches and execution providers from Python."""

from __future__ import annotations

import os
from typing import Any

from .api.device import EpDevice
from .api.runtime import Runtime as _Runtime
from .backend import attach_backend, backend_of
from .core.loader import open_native
from .options import SessionOptions
from .registration import register_compiled, register_python, unregister
from .session import Session

__all__ = ["Runtime", "load"]


def load(
    path: str | os.PathLike[str] | None = None,
    *,
    api_version: int | None = None,
    log_level: int | str = "warning",
    intra_op_threads: int | None = None,
    inter_op_threads: int | None = None,
) -> Runtime:
    """Load ONNX Runtime.

    Args:
        path: a library file, or a folder that holds one. None: the file that ORTCACHE_LIBRARY names, else the
            installed onnxruntime wheel's, else the system's.
        api_version: the API version to speak; None: the highest that the library and these bindings know.
        log_level: the least severe level that ORT logs: "verbose", "info", "warning", "error" or "fatal". Its lines go
            to the Python logger "onnxruntime".
        intra_op_threads: with ``inter_op_threads``: make thread pools of that many threads (0: ORT chooses) that all
            sessions share.

    Raises:
        LibraryNotFoundError: no library was found; the message says where it was looked for.
        NotOnnxRuntimeError: the file is something else, or the system cannot load it.
        LibraryVersionError: the library is too old, or does not have ``api_version``.
    """
    native = open_native(path, api_version)
    return Runtime(native, log_level, intra_op_threads=intra_op_threads, inter_op_threads=inter_op_threads)


class Runtime(_Runtime):
    """One loaded library. `load` makes it.

    Attributes:
        native: what the wrappers stand on: tables, versions, statuses.
    """

    _options_type = SessionOptions
    _session_type = Session

    def __init__(self, native: Any, *args: Any, **settings: Any) -> None:
        attach_backend(native)
        super().__init__(native, *args, **settings)

    @property
    def ep_cache_backend(self) -> str | None:
        """Who answers for EP cache callbacks: "native" where the library has them, else "host"; None where the library
        is too old for either."""
        return backend_of(self.native)

    def register_ep(self, *eps: Any, name: str | None = None) -> list[EpDevice]:
        """Register execution providers written in Python.

        Args:
            eps: subclasses of `ortcache.ep.Ep`; their instances are made by ORT, one a session.
            name: the registration's name; None: the first provider's.

        Returns:
            The devices that they offer.

        Raises:
            HostError: not on this platform, or not with a library this old.
            OrtError: the name is taken.
        """
        return register_python(self.env, eps, name)

    def register_ep_library(self, name: str, path: str | os.PathLike[Any]) -> list[EpDevice]:
        """Register a plugin execution provider's shared library, with the host between it and ORT.

        The host answers when the plugin asks for the proposal's functions by name. Where it does not cover the
        platform, or the library has the functions itself, the plugin is registered as it is.

        Returns:
            The devices that it offers.

        Raises:
            OrtError: the name is taken, or the plugin refuses.
            InputError: the file is no library, or no plugin.
        """
        return register_compiled(self.env, name, path)

    def unregister_ep_library(self, name: str) -> None:
        """Undo `register_ep` or `register_ep_library`. Close the sessions that use it first."""
        unregister(self.env, name)
