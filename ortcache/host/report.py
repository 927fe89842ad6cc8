"""How a compiled plugin says which directions it supports: stock ORT has no member of OrtEp for it.

``headers/ortcache_host.h`` declares the function; a plugin finds it by name through ``GetExperimentalFunction`` and
calls it from its ``CreateEp``.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from ..core.callbacks import status_function
from ..errors import OrtError
from ..raw._support import bindings
from .attach import Host
from .sessions import EpSupport

__all__ = ["REPORT_NAME", "report_pointer"]

REPORT_NAME = "Ortcache_ReportEpCacheDataCallbackSupport"


def report_pointer(host: Host) -> Any:
    """``OrtStatus* (*)(const OrtSessionOptions*, const char* ep_name, uint32_t flags)`` as a function pointer."""
    kind = bindings().stdcall(ctypes.c_void_p, ctypes.POINTER(raw.OrtSessionOptions), ctypes.c_char_p, ctypes.c_uint32)

    def report(options: Any, ep_name: bytes | None, flags: int) -> None:
        if not options or not ep_name:
            raise OrtError(raw.OrtErrorCode.ORT_INVALID_ARGUMENT, "an argument is NULL", REPORT_NAME)
        host.proposal.add_ep(EpSupport(ep_name.decode("utf-8", "replace"), lambda: flags), options)

    return status_function(host.native, kind, report)
