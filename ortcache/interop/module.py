"""The official ``onnxruntime`` module, and the C API of the copy of ONNX Runtime inside it."""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import weakref
from types import FrameType
from typing import Any

from ..backend import backend_of
from ..core.native import Native
from ..errors import HostError, LibraryNotFoundError
from ..host.attach import MINIMUM_HOST_VERSION, Host, host_of, is_native
from ..host.entries import Entry
from ..host.library import PluginLibrary
from ..host.shim import check_platform
from ..locks import new_lock

__all__ = [
    "ep_cache_backend",
    "hold_for_sessions_being_made",
    "imported_module",
    "official_host",
    "official_module",
    "official_native",
]

#: Registered for a moment, to be handed the module's OrtApiBase. It brings no execution provider.
_PROBE = "ortcache.probe"

_lock = new_lock()
_found: list[Native] = []  # for as long as the process: plugins may call late


def imported_module() -> Any:
    """The ``onnxruntime`` module.

    Raises:
        LibraryNotFoundError: it is not there, or something else has its name.
    """
    try:
        module: Any = importlib.import_module("onnxruntime")
    except ImportError as error:
        raise LibraryNotFoundError(
            f"the onnxruntime module cannot be imported ({error}): `pip install onnxruntime`"
        ) from error
    if not hasattr(module, "InferenceSession") or not hasattr(module, "get_version_string"):
        where = getattr(module, "__file__", None) or list(getattr(module, "__path__", []))
        raise LibraryNotFoundError(
            f"what is imported as onnxruntime ({where}) is not ONNX Runtime: `pip install onnxruntime`"
        )
    return module


def official_module() -> Any:
    """The module, where the host can work in it.

    Raises:
        LibraryNotFoundError: it is not there.
        HostError: it is too old, was built without plugin execution providers, or is on a platform that the host does
            not cover.
    """
    module = imported_module()
    version = module.get_version_string()  # the loaded library's: what pip says may be another's
    minor = re.match(r"1\.(\d+)", version)
    if not minor or int(minor[1]) < MINIMUM_HOST_VERSION:
        raise HostError(
            f"EP caches and execution providers in the onnxruntime module need 1.{MINIMUM_HOST_VERSION} or later; the "
            f"loaded one is {version}. `pip install -U onnxruntime`"
        )
    if not hasattr(module, "register_execution_provider_library"):
        raise HostError(
            f"this onnxruntime {version} was built without plugin execution providers: it has no "
            "register_execution_provider_library. Install one of the wheels of PyPI."
        )
    try:
        check_platform()
    except HostError as error:
        raise HostError(
            f"{error} In the onnxruntime module, execution providers that keep a cache directory can have it in a "
            "store: see ortcache.bridge."
        ) from None
    return module


def official_native() -> Native:
    """The C API of the module's own copy of ONNX Runtime; the same each time.

    Raises:
        LibraryNotFoundError: there is no such module.
        HostError: the host cannot work in it.
    """
    module = official_module()
    with _lock:
        if not _found:
            _found.append(_probe(module))
        return _found[0]


def official_host() -> Host:
    """The host in the module's own copy.

    Raises:
        LibraryNotFoundError: there is no such module.
        HostError: the host cannot work in it, or has no place there.
    """
    native = official_native()
    if is_native(native):
        raise HostError(
            f"{native.description} has EP cache callbacks itself, and its C functions for them take what the "
            "onnxruntime module does not give away. Set them through that module, or use ortcache.load()."
        )
    host = host_of(native)
    host.proposal.on_lend = _hold_for_session
    return host


def ep_cache_backend() -> str | None:
    """Who answers for EP cache callbacks in the official module: "host", or "native" where it has them itself.

    Raises:
        LibraryNotFoundError: there is no such module.
        HostError: the host cannot work in it.
    """
    return backend_of(official_native())


def _hold_for_session(entry: Entry) -> None:
    """Keep what a compiled provider got as long as the session that this thread is making.

    The official session lets its options go before the C++ session, which may write when it is released. That one is a
    local variable of the method that makes it.
    """
    kind = importlib.import_module("onnxruntime.capi._pybind_state").InferenceSession
    frame = inspect.currentframe()
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("onnxruntime."):
            for value in list(frame.f_locals.values()):
                if isinstance(value, kind):
                    weakref.finalize(value, _let_go, entry).atexit = False
                    return
        frame = frame.f_back


def hold_for_sessions_being_made(options: Any, entry: Entry) -> None:
    """Keep what options had attached as long as the sessions that threads are making from them: one that has copied
    the options, and made no provider yet, is to find it.
    """
    kind = imported_module().InferenceSession
    frames: list[FrameType | None] = [*sys._current_frames().values()]
    while frames:
        frame = frames.pop()  # this one's own among them: none is kept, as that would be a cycle
        while frame is not None:
            if str(frame.f_globals.get("__name__")).startswith("onnxruntime."):
                found = list(frame.f_locals.values())
                if any(value is options for value in found):
                    for value in found:
                        if isinstance(value, kind):
                            weakref.finalize(value, _let_go, entry).atexit = False
            frame = frame.f_back


def _let_go(_entry: Entry) -> None:
    """Nothing holds it for that session's providers any more."""


def _probe(module: Any) -> Native:
    found: list[Native] = []

    def create(native: Native, *rest: Any) -> None:
        found.append(native)
        rest[-1][0] = 0  # no factories

    library = PluginLibrary(create, lambda native, factory: None)
    try:
        module.register_execution_provider_library(_PROBE, library.path)
        module.unregister_execution_provider_library(_PROBE)
    finally:
        library.close()
    if not found:
        raise HostError(
            f"onnxruntime {module.get_version_string()} does not give plugins the C API that ortcache knows"
        )
    return found[0]
