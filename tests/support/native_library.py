"""An ONNX Runtime that has the three EP cache functions itself, made of the installed one: for bindings generated from
headers that hold them as ordinary slots.

Its OrtApiBase says 1.33.0 and gives copies of the real tables with the new slots filled in. What the functions do is
written here once more, and shares nothing with ``ortcache.host``.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable
from typing import Any

import ortcache.host.library
from ortcache import raw
from ortcache.core.native import Native
from ortcache.raw._support import bindings

__all__ = ["VERSION", "NativeLibrary"]

VERSION = 33
_KEY = b"made.up.ep_cache."
_POINTER = ctypes.sizeof(ctypes.c_void_p)
_SESSION_MAKERS = {  # to the argument in which the session comes back
    "CreateSession": 3,
    "CreateSessionFromArray": 4,
    "CreateSessionWithPrepackedWeightsContainer": 4,
    "CreateSessionFromArrayWithPrepackedWeightsContainer": 5,
}


class NativeLibrary:
    """It lives as long as the process.

    Attributes:
        native: what the wrappers stand on.
    """

    def __init__(self, real: Native) -> None:
        self._real = real
        self._keep: list[Any] = []
        self._numbers = itertools.count(1)
        self._tuples: dict[int, tuple[Any, Any, Any]] = {}
        self._making = threading.local()
        self._eps: dict[int, list[int]] = {}  # session -> addresses of its OrtEps
        self._factories: dict[int, Any] = {}  # a factory's own CreateEp -> the one that takes note
        self._ep_api = self._copy("OrtEpApi")
        self._api = self._copy("OrtApi")
        self._put(self._ep_api, "OrtEpApi", "SessionOptionsGetEpCacheDataFuncs", self._get_functions)
        self._put(self._ep_api, "OrtEpApi", "CreateEpDevice", self._create_ep_device)
        self._put(self._api, "OrtApi", "SessionOptionsSetEpCacheDataFuncs", self._set_functions)
        self._put(self._api, "OrtApi", "SessionGetEpCacheDataCallbackSupport", self._get_support)
        self._put(self._api, "OrtApi", "GetEpApi", lambda: ctypes.addressof(self._ep_api))
        self._put(self._api, "OrtApi", "ReleaseSession", self._release_session)
        for name, result in _SESSION_MAKERS.items():
            self._put(self._api, "OrtApi", name, self._session_maker(getattr(real.api.raw, name), result))
        version = ctypes.create_string_buffer(f"1.{VERSION}.0".encode())
        get_api = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32)(lambda v: ctypes.addressof(self._api))
        get_version = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: ctypes.addressof(version))
        base = (ctypes.c_void_p * 2)(*(ctypes.cast(f, ctypes.c_void_p).value for f in (get_api, get_version)))
        self._keep += [version, get_api, get_version, base]
        self.native = Native(ctypes.addressof(base), real.choice)
        # The real library hands its own OrtApiBase to plugins.
        ortcache.host.library.native_at = lambda _base: self.native

    def _copy(self, struct: str) -> Any:
        """The real table, and zeros for what the library does not have."""
        slots = raw.slots(struct)
        known = sum(1 for slot in slots if slot.since <= self._real.api_version)
        table = (ctypes.c_void_p * len(slots))()
        ctypes.memmove(table, self._real.table(struct).raw._address, known * _POINTER)
        return table

    def _put(self, table: Any, struct: str, name: str, function: Callable[..., Any]) -> None:
        pointer = bindings().prototype(struct, name, implemented=True)(function)
        table[bindings().slots(struct)[name][0]] = ctypes.cast(pointer, ctypes.c_void_p).value
        self._keep.append(pointer)

    def _invalid(self, message: str) -> int | None:
        status = self._real.api.raw.CreateStatus(raw.OrtErrorCode.ORT_INVALID_ARGUMENT, message.encode())
        return ctypes.cast(status, ctypes.c_void_p).value

    def _set_functions(self, options: Any, read: Any, write: Any, state: int | None) -> int | None:
        if not options:
            return self._invalid("options is NULL")
        number = next(self._numbers)
        self._tuples[number] = _address(read), _address(write), state
        self._real.api.AddSessionConfigEntry(options, _KEY + str(number).encode(), b"1")
        return None

    def _get_functions(self, options: Any, read: Any, write: Any, state: Any) -> int | None:
        if not (options and read and write and state):
            return self._invalid("an argument is NULL")
        pairs = ctypes.POINTER(raw.OrtKeyValuePairs)()
        self._real.api.GetSessionOptionsConfigEntries(options, ctypes.byref(pairs))
        keys, values, count = _strings(), _strings(), ctypes.c_size_t()
        self._real.api.GetKeyValuePairs(pairs, ctypes.byref(keys), ctypes.byref(values), ctypes.byref(count))
        found = [int(keys[i][len(_KEY) :]) for i in range(count.value) if keys[i].startswith(_KEY)]
        self._real.api.ReleaseKeyValuePairs(pairs)
        values = self._tuples[max(found)] if found else (None, None, None)
        for out, value in zip((read, write, state), values, strict=True):
            ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = value
        return None

    def _get_support(self, session: Any, ep_name: bytes | None, flags: Any) -> int | None:
        if not session or not flags:
            return self._invalid("an argument is NULL")
        union = 0
        for address in self._eps[_address(session) or 0]:
            ep = raw.OrtEp.from_address(address)
            name = ctypes.string_at(ep.GetName(ctypes.pointer(ep)))
            if ep_name is not None and name != ep_name:
                continue
            # A member of a struct that says it is older is not there.
            if ep.ort_version_supported < VERSION or not ep.GetEpCacheDataCallbackSupport:
                continue
            own = ctypes.c_uint32()
            status = ep.GetEpCacheDataCallbackSupport(ctypes.pointer(ep), ctypes.pointer(own))
            if status:
                return int(status)
            if own.value & ~3:
                return self._invalid(f"{name.decode()} says {own.value:#x}")
            union |= own.value
        flags[0] = union
        return None

    def _session_maker(self, function: Any, result: int) -> Callable[..., int | None]:
        def make(*args: Any) -> int | None:
            stack = self._stack()
            stack.append([])
            status = function(*args)
            eps = stack.pop()
            if not status:
                self._eps[_address(args[result].contents) or 0] = eps
            return _address(status)

        return make

    def _release_session(self, session: Any) -> None:
        address = _address(session)
        self._real.api.raw.ReleaseSession(session)
        self._eps.pop(address or 0, None)

    def _create_ep_device(self, factory: Any, *rest: Any) -> int | None:
        own = _address(factory.contents.CreateEp) or 0
        if own not in self._factories:
            wrapper = bindings().prototype("OrtEpFactory", "CreateEp", implemented=True)(self._ep_maker(own))
            self._factories[own] = wrapper
            self._factories[_address(wrapper) or 0] = wrapper
        factory.contents.CreateEp = self._factories[own]
        return _address(self._real.table("OrtEpApi").raw.CreateEpDevice(factory, *rest))

    def _ep_maker(self, own: int) -> Callable[..., int | None]:
        call = bindings().prototype("OrtEpFactory", "CreateEp", implemented=True)(own)

        def create(*args: Any) -> int | None:
            status: int | None = call(*args)
            if not status and self._stack():
                self._stack()[-1].append(_address(args[-1][0]) or 0)
            return status

        return create

    def _stack(self) -> list[list[int]]:
        if not hasattr(self._making, "stack"):
            self._making.stack = []
        stack: list[list[int]] = self._making.stack
        return stack


def _address(pointer: Any) -> int | None:
    return ctypes.cast(pointer, ctypes.c_void_p).value if pointer else None


def _strings() -> Any:
    return ctypes.POINTER(ctypes.c_char_p)()
