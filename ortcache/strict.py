"""Strict EP caches: a session whose execution providers cannot honour what was set is refused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .epcache import CacheCallbacks
from .errors import EpCacheError
from .support import CacheSupport

__all__ = ["check_strict"]


def check_strict(cache: CacheCallbacks, support: Mapping[str, CacheSupport], errors: Sequence[BaseException]) -> None:
    """Refuse a session that was made with this cache.

    Args:
        support: its execution providers, and what each does through the callbacks.
        errors: what failed while it was made.

    Raises:
        EpCacheError: one of them does not do what is set, there is none, or something failed.
    """
    wanted = CacheSupport.READ * cache.reads | CacheSupport.WRITE * cache.writes
    lacking = {name: wanted & ~flags for name, flags in support.items() if wanted & ~flags}
    if lacking or not support:
        which = "; ".join(f"{name} does not {_words(flags)}" for name, flags in lacking.items())
        raise EpCacheError(
            f"the EP cache is strict, and {which or 'no execution provider was appended that could use it'}. "
            "Set it without strict to run without, or for the directions that are supported only."
        )
    if errors:
        raise EpCacheError(f"the EP cache is strict, and it failed: {errors[0]}") from errors[0]


def _words(flags: CacheSupport) -> str:
    names = {CacheSupport.READ: "read", CacheSupport.WRITE: "write"}
    return " or ".join(word for flag, word in names.items() if flag in flags) + " through callbacks"
