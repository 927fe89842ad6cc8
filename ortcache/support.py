"""What an execution provider does through EP cache callbacks."""

from __future__ import annotations

from enum import IntFlag

__all__ = ["CPU_PROVIDER", "CacheSupport"]

#: ORT gives it to every session. It is compiled in, and keeps no cache.
CPU_PROVIDER = "CPUExecutionProvider"


class CacheSupport(IntFlag):
    """The bits of OrtEp::GetEpCacheDataCallbackSupport."""

    NONE = 0
    READ = 1
    WRITE = 2
