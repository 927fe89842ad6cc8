"""A loaded ONNX Runtime with EP caches and execution providers from Python."""

from __future__ import annotations

import os
from typing import Any

from .api.device import EpDevice
from .api.runtime import Runtime as _Runtime
from .backend import attach_backend, backend_of, open_shared
from .options import SessionOptions
from .registration import register_compiled, register_python, unregister
from .session import Session

__all__ = ["Runtime", "load"]


class Runtime(_Runtime):
    """One loaded library. `load` makes it.

    Attributes:
        native: what the wrappers stand on: tables, versions, statuses.
    """

    _options_type = SessionOptions
    _session_type = Session
    _open = staticmethod(open_shared)

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


load = Runtime.load
