"""Sessions of the official module that ortcache watches while they are made."""

from __future__ import annotations

import contextlib
import weakref
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from ..epcache import CacheCallbacks, caches_disabled
from ..errors import InputError
from ..host.entries import Entry
from ..locks import new_lock
from ..strict import check_strict
from ..support import CPU_PROVIDER, CacheSupport
from .attachment import attached, attached_to_session
from .module import official_host, official_module

__all__ = ["Made", "callbacks_of", "made_by_us", "session", "users"]

_lock = new_lock()
_made: weakref.WeakKeyDictionary[Any, Made] = weakref.WeakKeyDictionary()  # by the official InferenceSession


@dataclass(frozen=True)
class Made:
    """What is known of a session.

    Attributes:
        entry: what was attached to its options.
        support: its execution providers, and what each does through the callbacks.
    """

    entry: Entry | None
    support: dict[str, CacheSupport]


def session(model: Any, options: Any = None, *, strict: bool = False, **how: Any) -> Any:
    """Make an official ``InferenceSession``, and know its execution providers: `ep_cache_support` tells them.

    Sessions that ``onnxruntime.InferenceSession`` makes use what is attached just as well. This one can be strict.

    Args:
        model: a path or bytes, as ``InferenceSession`` takes it.
        options: an ``onnxruntime.SessionOptions``, with or without something attached.
        strict: refuse a session whose execution providers cannot honour what is attached, and raise what fails while
            it is made. ``InferenceSession`` does not fall back to other providers then, unless ``enable_fallback`` says
            so.
        how: what else ``InferenceSession`` takes by name.

    Raises:
        EpCacheError: it is strict, and an execution provider cannot honour it, or the cache failed.
        InputError: it is to be strict, and nothing is attached.
        LibraryNotFoundError: there is no onnxruntime module.
        HostError: it is too old, or the host does not cover this platform.
    """
    module, host = official_module(), official_host()
    attachment = None if options is None else attached(options)
    cache = callbacks_of(attachment.entry) if attachment else None
    if strict and caches_disabled():
        strict = False
    if strict and cache is None:
        raise InputError("a strict session needs an EP cache: attach one to its options first")
    if strict:
        how.setdefault("enable_fallback", 0)
    failing: AbstractContextManager[list[BaseException]] = (
        cache.collecting() if cache and strict else contextlib.nullcontext([])
    )
    with failing as errors, host.proposal.sessions.creating() as creation:
        made = module.InferenceSession(model, options, **how)
    flags = {ep.name: CacheSupport(ep.checked()) for ep in creation.eps}
    known = _know(made, flags)
    if strict:
        assert cache is not None
        try:
            check_strict(cache, known.support, errors)
        except BaseException:
            # The traceback has this frame, and that of what failed leads back to it.
            del made
            errors.clear()
            raise
    return made


def _know(session: Any, flags: dict[str, CacheSupport]) -> Made:
    entry = attached_to_session(session)
    names = [name for name in session.get_providers() if name in flags or name != CPU_PROVIDER]
    known = Made(entry, {name: flags.get(name, CacheSupport.NONE) for name in names})
    with _lock:
        _made[session] = known
    return known


def made_by_us(session: Any) -> Made | None:
    """What is known of a session, where `session` made it."""
    with _lock:
        return _made.get(session)


def users(ep_names: set[str]) -> int:
    """How many of these sessions have one of the providers."""
    with _lock:
        return sum(not ep_names.isdisjoint(known.support) for known in _made.values())


def callbacks_of(entry: Entry | None) -> CacheCallbacks | None:
    """What answers for an entry that `attach` made."""
    found: CacheCallbacks | None = entry.keep[1] if entry is not None else None
    return found
