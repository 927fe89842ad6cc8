"""The API tables that a compiled plugin EP is given: exact copies of the library's, version by version.

A table of version v has v's number of slots and no more. The one thing that differs from the library's own is that
``GetExperimentalFunction`` (1.28 and later) also answers for the proposal's functions, by name.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..core.callbacks import status_function
from ..core.native import Native
from ..core.status import address
from ..locks import new_lock
from ..raw._support import bindings
from .attach import Host
from .report import REPORT_NAME, report_pointer

__all__ = ["ApiBase", "slot_count"]

_SLOT = ctypes.sizeof(ctypes.c_void_p)


def slot_count(version: int) -> int:
    """How many slots OrtApi has in an API version."""
    return sum(1 for slot in raw.slots("OrtApi") if isinstance(slot.since, int) and slot.since <= version)


class ApiBase:
    """An OrtApiBase to hand to a plugin. It must live as long as the library: plugins keep pointers to its tables."""

    def __init__(self, host: Host) -> None:
        self.host = host
        self.native: Native = host.native
        self._lock = new_lock()
        self._copies: dict[int, Any] = {}
        self._keep: list[Any] = []  # function pointers that the tables hold the addresses of
        make = bindings().stdcall
        real = ctypes.cast(self.native.base, ctypes.POINTER(ctypes.c_void_p))
        self._real_get_api = make(ctypes.c_void_p, ctypes.c_uint32)(real[0])
        self._get_api = make(ctypes.c_void_p, ctypes.c_uint32)(self._answer)
        # OrtApiBase: GetApi, GetVersionString.
        self._base = (ctypes.c_void_p * 2)(ctypes.cast(self._get_api, ctypes.c_void_p).value, real[1])

    @property
    def pointer(self) -> int:
        """Its address."""
        return ctypes.addressof(self._base)

    def _answer(self, version: int) -> int | None:
        """GetApi. What is not ours to know is the library's to answer, NULL and complaint included."""
        try:
            if not 1 <= version <= min(raw.GENERATED_API_VERSION, self.native.library_api_version):
                table: int | None = self._real_get_api(version)
                return table
            with self._lock:
                if version not in self._copies:
                    self._copies[version] = self._copy(version)
                return ctypes.addressof(self._copies[version])
        except BaseException:  # there is no way to say more than that there is no table
            return None

    def _copy(self, version: int) -> Any:
        count = slot_count(version)
        table = (ctypes.c_void_p * count)()
        ctypes.memmove(table, self._real_get_api(version), count * _SLOT)
        index, _ = bindings().slots("OrtApi")["GetExperimentalFunction"]
        if index < count:
            table[index] = self._experimental(table[index] or 0)
        return table

    def _experimental(self, real: int) -> int | None:
        """GetExperimentalFunction with the proposal's names added."""
        prototype = bindings().stdcall(ctypes.c_void_p, ctypes.c_char_p)
        ask = prototype(real)
        named = self._named()

        def answer(name: bytes | None) -> int | None:
            try:
                found: int | None = named.get(name or b"") or ask(name)
            except BaseException:
                return None
            return found

        callback = prototype(answer)
        self._keep += [callback, ask]
        return ctypes.cast(callback, ctypes.c_void_p).value

    def _named(self) -> dict[bytes, int | None]:
        """Each function under its own name, and with its table's before it as upstream writes experimental ones."""
        host = self.host
        report = report_pointer(host)
        prototype = bindings().prototype("OrtEpApi", "SessionOptionsGetEpCacheDataFuncs", implemented=True)
        lend = status_function(host.native, prototype, host.proposal.lend_functions)
        self._keep += [report, lend]
        named = {
            "OrtApi_SessionOptionsSetEpCacheDataFuncs": host.set_functions,
            "OrtApi_SessionGetEpCacheDataCallbackSupport": host.get_support,
            "OrtEpApi_SessionOptionsGetEpCacheDataFuncs": lend,
            REPORT_NAME: report,
        }
        addresses = {name.encode(): address(pointer) for name, pointer in named.items()}
        return {**addresses, **{name.partition(b"_")[2]: value for name, value in addresses.items()}}
