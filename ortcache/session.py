"""Sessions that know of their EP cache."""

from __future__ import annotations

from typing import Any

from .api.session import Session as _Session
from .backend import backend_of, read_support, seen_eps
from .epcache import CacheCallbacks, EpCacheStats
from .errors import EpCacheError
from .options import SessionOptions
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
            self._check_strict(self._ep_cache, errors)
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

    def _check_strict(self, cache: CacheCallbacks, errors: list[BaseException]) -> None:
        wanted = CacheSupport.READ * cache.reads | CacheSupport.WRITE * cache.writes
        support = self.ep_cache_support()
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
