"""Who answers for the proposal's functions: the library itself where it has them, else the host."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

from .core.callbacks import Token
from .core.loader import open_native
from .core.named_buffers import NamedBuffers, read_pointer, write_pointer
from .core.native import Native
from .core.status import address
from .host.attach import MINIMUM_HOST_VERSION, host_of, is_native
from .host.entries import Entry
from .locks import new_lock
from .support import CacheSupport

__all__ = ["attach_backend", "backend_of", "make_entry", "open_shared", "read_support", "seen_eps", "set_functions"]


_lock = new_lock()
_natives: dict[tuple[object, ...], Native] = {}


def open_shared(path: str | os.PathLike[str] | None = None, api_version: int | None = None) -> Native:
    """`open_native`, with one `Native` for a library that is loaded again in the same way: the host and what C has of
    it stay as long as the process, since plugins may call late, and so must not be made for each load."""
    native = open_native(path, api_version)
    choice = native.choice
    key = (native.base, native.api_version, str(choice), tuple(choice.tried) if choice else ())
    with _lock:
        return _natives.setdefault(key, native)


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
    native: Native, options: Any, buffers: NamedBuffers | None, on_reject: Callable[[], None] | None = None
) -> Token | None:
    """``SessionOptionsSetEpCacheDataFuncs`` on whichever side has it.

    Args:
        buffers: what C is to call; None clears what was set.
        on_reject: told when a provider written in Python refuses a value, where the host is between the two.

    Returns:
        What the functions' state is; the host keeps it alive, for the library the caller has to.

    Raises:
        HostError: neither has it.
    """
    read, write, token = _pointers(native, buffers)
    state = token.value if token else None
    if is_native(native):
        native.api.SessionOptionsSetEpCacheDataFuncs(options, read, write, state)
    else:
        host_of(native).proposal.set_functions(options, read, write, state, token, on_reject)
    return token


def make_entry(native: Native, buffers: NamedBuffers | None, on_reject: Callable[[], None] | None = None) -> Entry:
    """The host's part of that alone, for options that only their owner can reach: an entry that is not changed any
    more. It works for options that carry its key, as long as somebody holds it.

    Raises:
        HostError: the library is too old.
    """
    read, write, token = _pointers(native, buffers)
    state = token.value if token else None
    entry = host_of(native).proposal.entries.new(address(read), address(write), state, token)
    entry.on_reject, entry.shared = on_reject, True
    return entry


def _pointers(native: Native, buffers: NamedBuffers | None) -> tuple[Any, Any, Token | None]:
    if buffers is None:
        return None, None, None
    read = read_pointer(native) if buffers.read else None
    return read, write_pointer(native) if buffers.write else None, Token(buffers)


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
