"""What official sessions and their options can say of their EP cache."""

from __future__ import annotations

from typing import Any

from ..epcache import EpCacheStats
from ..host.entries import Entry
from ..support import CPU_PROVIDER, CacheSupport
from .attachment import attached, attached_to_session
from .module import imported_module
from .sessions import callbacks_of, made_by_us

__all__ = ["ep_cache_stats", "ep_cache_support"]


def ep_cache_support(of: Any) -> dict[str, CacheSupport]:
    """What execution providers do through the callbacks, by their names. What is not known is left out.

    Args:
        of: an ``onnxruntime.InferenceSession``. One that `session` made has all its providers here, but for ORT's own
            CPU provider. Of another one, they are known from what is attached to its options; with nothing attached,
            none is. Or an ``onnxruntime.SessionOptions``: the providers that were made with what is attached now.

    Raises:
        TypeError: it is neither.
    """
    if _is_options(of):
        attachment = attached(of)
        return _agreed(attachment.entry) if attachment else {}
    known = made_by_us(of)
    if known is not None:
        return dict(known.support)
    entry = attached_to_session(of)
    if entry is None:
        return {}
    agreed = _agreed(entry)
    # A provider that never asked for what is attached does nothing with it.
    names = [name for name in of.get_providers() if name in agreed or name not in {CPU_PROVIDER, *entry.flags}]
    return {name: agreed.get(name, CacheSupport.NONE) for name in names}


def ep_cache_stats(of: Any) -> EpCacheStats:
    """What went through the cache that is attached; of all options and sessions that share it.

    Args:
        of: an ``onnxruntime.SessionOptions``, or an ``onnxruntime.InferenceSession`` that was made from such.

    Raises:
        TypeError: it is neither.
    """
    if _is_options(of):
        attachment = attached(of)
        entry = attachment.entry if attachment else None
    else:
        known = made_by_us(of)
        entry = known.entry if known else attached_to_session(of)
    callbacks = callbacks_of(entry)
    return callbacks.stats if callbacks else EpCacheStats()


def _is_options(of: Any) -> bool:
    module = imported_module()
    if isinstance(of, module.SessionOptions):
        return True
    if isinstance(of, module.InferenceSession):
        return False
    raise TypeError(f"give an onnxruntime.SessionOptions or an onnxruntime.InferenceSession, not {type(of).__name__}")


def _agreed(entry: Entry) -> dict[str, CacheSupport]:
    """Of each provider that was made with an entry, unless its instances differ."""
    return {name: CacheSupport(*flags) for name, flags in list(entry.flags.items()) if len(flags) == 1}
