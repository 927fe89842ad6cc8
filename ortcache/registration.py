"""Plugin EPs into ONNX Runtime: those written in Python, and compiled ones with the host in between."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from .api.device import EpDevice, plugin_file, register_ep_library, unregister_ep_library
from .api.env import Environment
from .backend import backend_of
from .core.callbacks import leave_to_c
from .core.native import Native
from .core.status import address
from .errors import HostError, InputError
from .host.attach import host_of, is_native
from .host.interpose import ApiBase
from .host.library import PluginLibrary, compiled_plugin
from .host.shim import check_platform
from .locks import new_lock

__all__ = ["api_base", "compiled_library", "register_compiled", "register_python", "unregister"]

_lock = new_lock()
_bases: dict[int, ApiBase] = {}  # by the library's own: plugins keep pointers into them
_registered: dict[tuple[int, str], PluginLibrary] = {}  # by the OrtEnv's address and the registration's name


def register_python(env: Environment, eps: Sequence[Any], name: str | None) -> list[EpDevice]:
    """Register EP classes as one plugin library."""
    from .ep.plugin import python_plugin

    if not eps:
        raise TypeError("register_ep takes at least one execution provider class")
    return _register(env, name or eps[0].name, python_plugin(*eps))


def register_compiled(env: Environment, name: str, path: str | os.PathLike[Any]) -> list[EpDevice]:
    """Register a compiled plugin."""
    native = env.native
    if is_native(native) or backend_of(native) is None or not _platform_covered():
        return register_ep_library(env, name, path)
    return _register(env, name, compiled_library(native, path))


def compiled_library(native: Native, path: str | os.PathLike[Any]) -> PluginLibrary:
    """A compiled plugin as what can be registered, with the host in between.

    Raises:
        InputError: the file is no library, or no plugin.
    """
    file = plugin_file(native, path)
    try:
        return compiled_plugin(file, api_base)
    except OSError as error:
        raise InputError(f"{file} cannot be loaded: {error}") from error
    except AttributeError:
        raise InputError(f"{file} is no plugin execution provider: it exports no CreateEpFactories") from None


def api_base(native: Native) -> int:
    """The OrtApiBase that a compiled plugin gets from this library."""
    with _lock:
        if native.base not in _bases:
            _bases[native.base] = ApiBase(host_of(native))
            leave_to_c(_bases[native.base])  # a session may outlive this module when the interpreter ends
        return _bases[native.base].pointer


def unregister(env: Environment, name: str) -> None:
    """Undo either registration."""
    unregister_ep_library(env, name)
    with _lock:
        library = _registered.pop((_address(env), name), None)
    if library is not None:
        library.close()


def _register(env: Environment, name: str, library: PluginLibrary) -> list[EpDevice]:
    try:
        devices = register_ep_library(env, name, library.path)
    except BaseException:
        library.close()
        raise
    library.loaded()
    with _lock:
        _registered[_address(env), name] = library
    return devices


def _address(env: Environment) -> int:
    return address(env._pointer) or 0


def _platform_covered() -> bool:
    try:
        check_platform()
    except HostError:
        return False
    return True
