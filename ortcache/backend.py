"""Who answers for the proposal's functions: the library itself where it has them, else the host."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .core.callbacks import Token
from .core.native import Native
from .core.status import address
from .errors import HostError
from .host.attach import MINIMUM_HOST_VERSION, host_of, is_native
from .support import CacheSupport

__all__ = ["attach_backend", "backend_of", "read_support", "seen_eps", "set_functions"]


def attach_backend(native: Native) -> None:
    """Make the proposal's functions callable, before anything is made from the library. Where neither has them, what
    needs them says so when it is asked for."""
    if not is_native(native) and native.api_version >= MINIMUM_HOST_VERSION:
        host_of(native)


def backend_of(native: Native) -> str | None:
    """ "native", "host", or None where the callbacks cannot work: see `HostError` for why."""
    if is_native(native):
        return "native"
    if native.api_version < MINIMUM_HOST_VERSION:
        return None
    return "host"


def set_functions(
    native: Native,
    options: Any,
    read: Any,
    write: Any,
    token: Token | None,
    on_reject: Callable[[], None] | None = None,
) -> None:
    """``SessionOptionsSetEpCacheDataFuncs`` on whichever side has it.

    Args:
        token: what the functions' state is; the host keeps it alive, for the library the caller has to.
        on_reject: told when a provider written in Python refuses a value, where the host is between the two.

    Raises:
        HostError: neither has it.
    """
    if backend_of(native) is None:
        raise HostError(
            f"EP cache callbacks need ONNX Runtime 1.{MINIMUM_HOST_VERSION} or later; the loaded library is "
            f"{native.description}, used with API version {native.api_version}. `pip install -U onnxruntime`"
        )
    state = token.value if token else None
    if is_native(native):
        native.api.SessionOptionsSetEpCacheDataFuncs(options, read, write, state)
    else:
        host_of(native).proposal.set_functions(options, read, write, state, token, on_reject)


def read_support(native: Native, session: Any, name: str | None) -> CacheSupport:
    """``SessionGetEpCacheDataCallbackSupport``."""
    flags = ctypes.c_uint32()
    native.api.SessionGetEpCacheDataCallbackSupport(session, name.encode() if name else None, ctypes.byref(flags))
    return CacheSupport(flags.value)


def seen_eps(native: Native, session: Any) -> list[str]:
    """The names of a session's execution providers, as far as the host was there when they were made."""
    if backend_of(native) != "host":
        return []
    return host_of(native).proposal.sessions.names(address(session) or 0)
