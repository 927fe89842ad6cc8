"""Ownership of what the library hands out: each handle is released once, after everything that stands on it.

A `Record` counts who needs a C object: its wrapper, and the objects made from it. So wrappers may be closed in any
order: the C object goes when the last of them does. The finalizer holds the record and never the wrapper.
"""

from __future__ import annotations

import ctypes
import logging
import os
import sys
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import ClosedError
from ..locks import new_lock

__all__ = ["Handle", "Hold", "Owned", "Record"]

_log = logging.getLogger("ortcache.lifetime")
_lock = new_lock()
_process = 0  # how often the process was forked: to release what the parent made would wait for the parent's threads


def _in_child() -> None:
    global _process
    _process += 1


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class Record:
    """A C object, what releases it, what it stands on, and how many need it."""

    __slots__ = ("_needed", "_parents", "_process", "_release", "kept", "name", "pointer")

    def __init__(
        self,
        name: str,
        pointer: Any,
        release: Callable[[Any], object] | None,
        parents: Iterable[Record] = (),
        kept: tuple[Any, ...] = (),
    ) -> None:
        self.name = name
        self.pointer = pointer
        self.kept = kept  # Python objects that the C object points into
        self._release = release  # None: borrowed, somebody else releases it
        self._process = _process
        self._parents: tuple[Record, ...] = ()
        self._needed = 1
        _log.debug("created %s", name)
        try:
            for parent in parents:
                parent.retain()
                self._parents += (parent,)
        except ClosedError:
            self.drop()
            raise

    def retain(self) -> None:
        with _lock:
            if not self._needed:
                raise ClosedError(f"this {self.name} is closed")
            self._needed += 1

    def drop(self) -> None:
        """Say that one user is done with it; the last one releases it."""
        with _lock:
            self._needed -= 1
            last = self._needed == 0
        if not last:
            return
        if self._release is not None and self._process == _process:
            self._release(self.pointer)
        self.kept = ()
        _log.debug("released %s", self.name)
        for parent in self._parents:
            parent.drop()


class Handle:
    """The base of every wrapper that stands for a C object.

    It is a context manager, `close` may be called any number of times, and it can be passed where the raw or checked
    C functions want the pointer.

    Args:
        pointer: the typed ctypes pointer.
        release: what releases it; None for a borrowed one.
        parents: wrappers that must outlive it.
        keep: Python objects that must outlive it.
    """

    _at_exit = True  # release it when the interpreter exits; a class whose memory can go with the process says False

    def __init__(
        self,
        pointer: Any,
        release: Callable[[Any], object] | None,
        *,
        parents: Iterable[Handle] = (),
        keep: Iterable[Any] = (),
    ) -> None:
        self._closed = False
        self._users: list[None] = []
        self._record: Record = Record(type(self).__name__, pointer, release, [p._record for p in parents], tuple(keep))
        self._finalizer = weakref.finalize(self, _drop_unused, weakref.ref(self), self._record, self._users)
        self._finalizer.atexit = self._at_exit

    @property
    def closed(self) -> bool:
        """Was it closed?"""
        return self._closed

    @property
    def _as_parameter_(self) -> Any:
        return self._pointer

    @property
    def _pointer(self) -> Any:
        if self._closed:
            raise ClosedError(f"this {type(self).__name__} is closed: make a new one")
        return self._record.pointer

    def close(self) -> None:
        """Give the C object back. A call that is running on another thread finishes first."""
        self._closed = True
        self._settle()

    def _settle(self) -> None:
        if self._closed and not self._users:
            self._finalizer()  # calls the record once, however often it is called

    def _enter(self) -> Any:
        """Take the pointer for a call; the object stays until `_leave`, even if another thread closes it."""
        self._users.append(None)  # append and pop are atomic, so this needs no lock
        if self._closed:
            Handle._leave(self)  # not what a subclass adds to it
            raise ClosedError(f"this {type(self).__name__} is closed: make a new one")
        return self._record.pointer

    def _leave(self) -> None:
        self._users.pop()
        if self._closed:
            self._settle()

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError(f"a {type(self).__name__} stands for a C object of this process: it is not copied or pickled")


def _drop_unused(wrapper: weakref.ref[Handle], record: Record, users: list[None]) -> None:
    if users:  # only at exit: a thread that is in C must not lose what it works on
        _exit_without_destructors()
        return
    handle = wrapper()
    if handle is not None:  # at exit too: what runs after this must find it closed
        handle._closed = True
    record.drop()


def _exit_without_destructors() -> None:
    """Let the process end right after Python does: ORT's own clean-up would not wait for a thread that is in a run.

    Only glibc has a way to do that which keeps the exit status. On Windows other threads end first anyway.
    """
    if sys.platform == "linux":
        libc = ctypes.CDLL(None)
        if hasattr(libc, "on_exit"):
            libc.fflush(None)
            libc.on_exit(libc._exit, None)


class Hold:
    """Keeps the C objects of some wrappers there, closed or not, as long as it is there itself."""

    def __init__(self, *handles: Handle) -> None:
        records = [handle._record for handle in handles]
        for done, record in enumerate(records):
            try:
                record.retain()
            except ClosedError:
                _drop_all(records[:done])
                raise
        # Not at exit: what points into these objects may be released later than this.
        weakref.finalize(self, _drop_all, records).atexit = False


class Owned:
    """A C object that goes when nothing holds this any more: where nobody can close it early, and a `Handle` would
    cost more than what is done with it.

    Attributes:
        address: where it is.
    """

    __slots__ = ("_process", "_release", "address")

    def __init__(self, address: int, release: Callable[[int], object]) -> None:
        self._release = release
        self._process = _process
        self.address = address

    def give_up(self) -> int:
        """The address, to be released by the caller."""
        self._process = -1
        return self.address

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._process == _process and not is_finalizing():  # at exit its memory goes with the process
            self._release(self.address)


def _drop_all(records: list[Record]) -> None:
    for record in records:
        record.drop()
