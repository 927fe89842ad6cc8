"""Makes a machine's CPU an Intel one in the eyes of compiled plugins: OpenVINO's offers a device on no other.

For tests alone. It acts on the tables that the host gives to plugins from then on, so `pretend` comes before the first
plugin is registered, in a process of its own.
"""

from __future__ import annotations

import ctypes
from typing import Any

from ortcache.host.interpose import ApiBase
from ortcache.raw._support import bindings

__all__ = ["INTEL", "pretend"]

#: Intel's PCI vendor id.
INTEL = 0x8086

_vendor_id = bindings().stdcall(ctypes.c_uint32, ctypes.c_void_p)(lambda device: INTEL)


def pretend() -> None:
    """Every hardware device is Intel's from now on, for plugins that are registered through the host."""
    exact = ApiBase._copy
    index, _ = bindings().slots("OrtApi")["HardwareDevice_VendorId"]

    def copy(base: ApiBase, version: int) -> Any:
        table = exact(base, version)
        table[index] = ctypes.cast(_vendor_id, ctypes.c_void_p).value
        return table

    ApiBase._copy = copy  # type: ignore[method-assign]
