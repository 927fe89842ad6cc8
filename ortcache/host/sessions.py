"""Which execution providers each session has, as far as they go through the host."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from .. import raw
from ..errors import InputError
from ..locks import new_lock

__all__ = ["SUPPORT_BITS", "EpSupport", "Sessions"]

#: The bits that mean something.
SUPPORT_BITS = int(raw.OrtEpCacheDataCallbackSupport_READ | raw.OrtEpCacheDataCallbackSupport_WRITE)


@dataclass(frozen=True)
class EpSupport:
    """One EP of a session.

    Attributes:
        name: the EP's.
        flags: asks it what it supports.
    """

    name: str
    flags: Callable[[], int]

    def checked(self) -> int:
        """The flags; InputError where the EP claims bits that mean nothing."""
        flags = self.flags()
        unknown = flags & ~SUPPORT_BITS
        if unknown:
            raise InputError(
                f"{self.name} says that it supports EP cache callbacks with flags {flags:#x}; the bits {unknown:#x} "
                f"are not known, only {SUPPORT_BITS:#x} are"
            )
        return flags


@dataclass
class _Creation:
    eps: list[EpSupport] = field(default_factory=list)


class Sessions:
    """What was found out while each session was made: ORT makes a session's EPs on the thread that makes it."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._thread = threading.local()
        self._eps: dict[int, list[EpSupport]] = {}

    @contextlib.contextmanager
    def creating(self) -> Iterator[_Creation]:
        """Around the making of a session: collects the EPs that are made within."""
        stack = self._stack()
        creation = _Creation()
        stack.append(creation)
        try:
            yield creation
        finally:
            stack.pop()

    def add(self, ep: EpSupport) -> None:
        """An EP was made, or says what it supports: it belongs to the session that this thread is making."""
        stack = self._stack()
        if stack:
            stack[-1].eps[:] = [*(known for known in stack[-1].eps if known.name != ep.name), ep]

    def made(self, session: int, creation: _Creation) -> None:
        with self._lock:
            self._eps[session] = creation.eps

    def released(self, session: int | None) -> None:
        with self._lock:
            self._eps.pop(session or 0, None)

    def names(self, session: int) -> list[str]:
        with self._lock:
            return [ep.name for ep in self._eps.get(session, ())]

    def support(self, session: int, name: str | None) -> int:
        """The flags of one EP, or of all together. An EP that never came by the host supports nothing here.

        Raises:
            InputError: an EP claims bits that mean nothing.
        """
        with self._lock:
            eps = list(self._eps.get(session, ()))
        flags = 0
        for ep in eps:
            if name is None or ep.name == name:
                flags |= ep.checked()
        return flags

    def _stack(self) -> list[_Creation]:
        if not hasattr(self._thread, "stack"):
            self._thread.stack = []
        stack: list[_Creation] = self._thread.stack
        return stack
