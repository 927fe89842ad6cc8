"""Sessions that know of their EP cache."""

from __future__ import annotations

from typing import Any

from .api.session import Session as _Session
from .backend import backend_of, read_support, seen_eps
from .epcache import CacheCallbacks, EpCacheStats
from .options import SessionOptions
from .strict import check_strict
from .support import CacheSupport

__all__ = ["Session"]


class Session(_Session):
    __doc__ = f"""{_Session.__doc__}
        EpCacheError: the EP cache is strict, and an execution provider cannot honour it, or the cache failed.
    """

    def __init__(self, env: Any, model: Any, options: SessionOptions) -> None:
        self._ep_cache: CacheCallbacks | None = options.ep_cache
        self._ep_names, self._ep_candidates = options.ep_names, options.ep_candidates
        if self._ep_cache is None or not self._ep_cache.strict:
            super().__init__(env, model, options)
            return
        with self._ep_cache.collecting() as errors:
            super().__init__(env, model, options)
        try:
            check_strict(self._ep_cache, self.ep_cache_support(), errors)
        except BaseException:
            self.close()
            raise

    def ep_cache_support(self) -> dict[str, CacheSupport]:
        """What each execution provider that was appended, or that ORT selected, does through the callbacks.

        Where the library has the callbacks itself it does not say which it selected: those that do something are here.
        """
        if backend_of(self.native) is None:
            return dict.fromkeys(self._ep_names, CacheSupport.NONE)
        return self._use(self._read_support)

    def _read_support(self, pointer: Any) -> dict[str, CacheSupport]:
        found = {name: read_support(self.native, pointer, name) for name in self._ep_names}
        if self._ep_candidates:
            seen = seen_eps(self.native, pointer)
            others = {name: read_support(self.native, pointer, name) for name in self._ep_candidates}
            found |= {name: flags for name, flags in others.items() if flags or name in seen}
        return found

    def ep_cache_stats(self) -> EpCacheStats:
        """What went through the cache of the options that this session was made from; of all that share that cache."""
        return self._ep_cache.stats if self._ep_cache else EpCacheStats()
