"""Session options with an EP cache."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .api.options import SessionOptions as _SessionOptions
from .backend import set_functions
from .core.callbacks import Token
from .epcache import CacheCallbacks, choose_callbacks
from .stores.protocol import Buffer
from .support import CPU_PROVIDER

__all__ = ["SessionOptions"]


class SessionOptions(_SessionOptions):
    __doc__ = f"""{_SessionOptions.__doc__}
    ``ep_cache`` sets what `set_ep_cache` sets.
    """

    def _start(self, env: Any, pointer: Any, other: _SessionOptions | None = None) -> None:
        super()._start(env, pointer, other)
        # With the C object, so that it goes when these options are closed.
        self._record.kept += (other._ep_cache_set if isinstance(other, SessionOptions) else (None, None),)

    @property
    def _ep_cache_set(self) -> tuple[Token | None, CacheCallbacks | None]:
        self._pointer  # noqa: B018  raises where they are closed
        found: tuple[Token | None, CacheCallbacks | None] = self._record.kept[-1]
        return found

    @property
    def ep_cache(self) -> CacheCallbacks | None:
        """What answers for the execution providers' cache; None where nothing is set. Assigning is `set_ep_cache`."""
        return self._ep_cache_set[1]

    @ep_cache.setter
    def ep_cache(self, cache: Any) -> None:
        self.set_ep_cache(cache)

    def set_ep_cache(
        self,
        cache: Any = None,
        *,
        read: Callable[[str], Buffer | None] | None = None,
        write: Callable[[str, memoryview], object] | None = None,
        strict: bool = False,
        max_size: str | int | None = None,
    ) -> None:
        """Let execution providers keep their cache in a store or in functions, and not in the file system.

        Each call replaces both directions; without arguments it clears them. Sessions and clones that were made
        before do not see it. ``ORTCACHE_DISABLE=1`` in the environment makes this do nothing.

        Args:
            cache: a store (an object with ``get`` and ``put``), what names one for `open_store` (a URL such as
                ``sqlite:///app-cache.db``, or a path), a mapping of key to bytes, or a `CacheCallbacks`. A store that
                refuses to write is set for reading only.
            read: a function instead: gets a key, gives bytes, or None for a miss.
            write: a function instead: gets a key and a memoryview, which is valid during the call only.
            strict: refuse to make a session whose execution providers cannot honour what is set here, and raise what
                fails while it is made.
            max_size: bytes of the largest value that passes, such as ``64M``; None for any.

        Raises:
            TypeError: it is none of these.
            InputError: a URL or a path that names no store, or a ``max_size`` that is no size.
            HostError: this ONNX Runtime has no such callbacks, and is too old for the host.
        """
        chosen = choose_callbacks(cache, read=read, write=write, strict=strict, max_size=max_size)
        pointer = super()._enter()
        try:
            token = set_functions(
                self.native, pointer, chosen.buffers if chosen else None, chosen.reject if chosen else None
            )
            self._record.kept = (*self._record.kept[:-1], (token, chosen))
        finally:
            super()._leave()

    @property
    def ep_names(self) -> list[str]:
        """The names of the execution providers that were appended; without ORT's own for the CPU, which every session
        has and which keeps no cache."""
        return [name for name in dict.fromkeys(self._appended) if name != CPU_PROVIDER]

    @property
    def ep_candidates(self) -> list[str]:
        """The names of those that ORT may select; none where it is not to select any."""
        return list(dict.fromkeys(device.ep_name for device in self._session_devices())) if self._selects else []

    def keep_for_session(self) -> tuple[Any, ...]:
        return (*super().keep_for_session(), self._ep_cache_set)
