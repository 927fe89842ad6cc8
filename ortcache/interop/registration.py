"""Plugin execution providers in the official module: written in Python, and compiled ones with the host in between."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from .. import raw
from ..api.device import plugin_file
from ..core.marshal import string
from ..core.native import Native
from ..errors import InputError, OrtcacheError, OrtError
from ..host.attach import is_native
from ..host.library import PluginLibrary
from ..locks import new_lock
from ..registration import compiled_library
from .module import official_module, official_native
from .sessions import users

__all__ = ["register_ep", "register_ep_library", "unregister_ep_library"]

_lock = new_lock()
_libraries: dict[str, tuple[PluginLibrary, set[str]]] = {}  # by registration name, with the providers' names


def register_ep(*eps: Any, name: str | None = None) -> list[Any]:
    """Register execution providers written in Python in the official module.

    Args:
        eps: subclasses of `ortcache.ep.Ep`; their instances are made by ORT, one a session.
        name: the registration's name; None: the first provider's.

    Returns:
        The ``onnxruntime.OrtEpDevice`` objects that they offer, for ``SessionOptions.add_provider_for_devices``.

    Raises:
        TypeError: something that is no subclass of `ortcache.ep.Ep`, or none.
        InputError: a name, vendor or version that cannot be.
        LibraryNotFoundError: there is no onnxruntime module.
        HostError: it is too old, or the host does not cover this platform.
        OrtError: the name is taken.
    """
    from ..ep.plugin import python_plugin

    official_native()
    library = python_plugin(*eps)
    return _register(eps[0].name if name is None else name, library)


def register_ep_library(name: str, path: str | os.PathLike[Any]) -> list[Any]:
    """Register a plugin execution provider's shared library in the official module, with the host between the two.

    The plugin finds the proposal's functions by name. Where the module has them itself, it is registered as it is.

    Args:
        name: the registration's name.
        path: the library's file.

    Returns:
        The ``onnxruntime.OrtEpDevice`` objects that it offers; none where the machine has nothing that it can use.

    Raises:
        InputError: the file is no library, or no plugin; the name is empty.
        LibraryNotFoundError: there is no onnxruntime module.
        HostError: it is too old, or the host does not cover this platform.
        OrtError: the name is taken, or the plugin refuses.
    """
    native = official_native()
    if is_native(native):
        return _devices_of(name, str(plugin_file(native, path)))
    return _register(name, compiled_library(native, path))


def unregister_ep_library(name: str) -> None:
    """Undo `register_ep` or `register_ep_library`. Let the sessions that use it go first.

    Raises:
        OrtcacheError: a session still uses it, as far as ortcache knows the session.
        OrtError: no library has that name.
    """
    module = official_module()
    with _lock:
        library, ep_names = _libraries.get(name, (None, set()))
        if library is not None and (library.in_use or users(ep_names)):
            raise OrtcacheError(
                f"the execution provider library {name!r} is in use: delete the sessions over it first (and collect "
                "garbage, where something refers back to them)"
            )
        _call(official_native(), "UnregisterExecutionProviderLibrary",
              module.unregister_execution_provider_library, name)  # fmt: skip
        _forget(name)


def _register(name: str, library: PluginLibrary) -> list[Any]:
    with _lock:
        try:
            devices = _devices_of(name, library.path)
        except BaseException:
            library.close()
            raise
        library.loaded()
        _forget(name)  # one that the module itself was told to unregister
        _libraries[name] = library, {device.ep_name for device in devices}
    return devices


def _devices_of(name: str, path: str) -> list[Any]:
    """Register a library; the devices that it brings."""
    if not string(name, "registration name"):
        raise InputError("the registration name is empty")
    module = official_module()
    with _lock:
        before = module.get_ep_devices()  # a device's object is the same each time, as long as it is kept
        _call(official_native(), "RegisterExecutionProviderLibrary",
              module.register_execution_provider_library, name, path)  # fmt: skip
        return [device for device in module.get_ep_devices() if not any(device is old for old in before)]


def _forget(name: str) -> None:
    library, _ = _libraries.pop(name, (None, set()))
    if library is not None:
        library.close()


def _call(native: Native, function: str, method: Callable[..., None], *args: str) -> None:
    """A call of the module whose failure becomes an OrtError."""
    try:
        native.statuses.call(method, args)
    except Exception as error:  # the module's own kinds have no other base
        message = str(error)
        code = re.search(r"\[ONNXRuntimeError\] : (\d+) : ", message)
        number = int(code[1]) if code else int(raw.OrtErrorCode.ORT_FAIL)
        known = {int(one): one for one in raw.OrtErrorCode}
        raise OrtError(known.get(number, number), message, function) from native.statuses.take(message) or error
    finally:
        native.statuses.settle()
