"""A stand-in for what a library exports, for versions and gaps that no real library has."""

from __future__ import annotations

import ctypes

from ortcache import raw
from ortcache.core.native import Native

__all__ = ["FakeBase", "table_copy"]

_POINTER = ctypes.sizeof(ctypes.c_void_p)


def table_copy(native: Native, **changed: int) -> ctypes.Array[ctypes.c_void_p]:
    """OrtApi as memory with every declared slot: the real library's functions, 0 where it has none.

    Args:
        changed: other addresses for some functions.
    """
    slots = raw.slots("OrtApi")
    copy = (ctypes.c_void_p * len(slots))()
    for index, slot in enumerate(slots):
        real = isinstance(slot.since, int) and slot.since <= native.api_version
        if real:
            address = ctypes.c_void_p.from_address(native.api.raw._address + index * _POINTER).value
            copy[index] = changed.get(slot.name, address)
    return copy


class FakeBase:
    """An OrtApiBase.

    Args:
        version: what it says its version is; None for NULL.
        table: the OrtApi that it gives, whatever version is asked for; None for NULL.

    Attributes:
        address: the OrtApiBase, for `Native`.
        asked: the API versions that it was asked for.
    """

    def __init__(self, version: str | None, table: ctypes.Array[ctypes.c_void_p] | None = None) -> None:
        self.asked: list[int] = []
        text = ctypes.create_string_buffer(version.encode()) if version is not None else None

        def get_api(asked: int) -> int | None:
            self.asked.append(asked)
            return ctypes.addressof(table) if table is not None else None

        def get_version() -> int | None:
            return ctypes.addressof(text) if text is not None else None

        # A ctypes callback cannot give a string, so each gives an address.
        api, name = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint32), ctypes.CFUNCTYPE(ctypes.c_void_p)
        functions = api(get_api), name(get_version)
        base = (ctypes.c_void_p * 2)(*[ctypes.cast(function, ctypes.c_void_p) for function in functions])
        self._keep = functions, base, text, table
        self.address = ctypes.addressof(base)
