"""What an execution provider does through EP cache callbacks."""

from __future__ import annotations

from enum import IntFlag

__all__ = ["CacheSupport"]


class CacheSupport(IntFlag):
    """The bits of OrtEp::GetEpCacheDataCallbackSupport."""

    NONE = 0
    READ = 1
    WRITE = 2
