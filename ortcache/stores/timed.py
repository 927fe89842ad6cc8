"""A store that answers in time or is given up."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..errors import StoreTimeoutError
from .breaker import Breaker
from .flat import flat
from .protocol import Buffer, Entry, Store, list_entries
from .seconds import check_seconds
from .wrapper import Wrapper

__all__ = ["Timed"]

#: Calls of one store that may be under way or hanging at once.
_AT_ONCE = 16

_log = logging.getLogger("ortcache.stores")
_Answer = TypeVar("_Answer")


class Timed(Wrapper):
    """Gives each call a time. One that takes longer is left to itself, on a thread that the interpreter's exit does
    not wait for; there are never more than 16 of those.

    What is put is copied first: a call that was given up may still read it.

    Args:
        inner: the store below.
        timeout: seconds for each call, listing included.
        breaker: refuses calls for a while after one that took longer; None where somebody above does that.
        name: what it is called in messages.

    Raises:
        InputError: the timeout is no such number.
        StoreTimeoutError: later, by every method.
    """

    def __init__(
        self, inner: Store, timeout: float, *, breaker: Breaker | None = None, name: str = "the store"
    ) -> None:
        super().__init__(inner)
        self.timeout = check_seconds("timeout", timeout)
        self._breaker = breaker
        self._name = name
        self._free = os.getpid(), threading.BoundedSemaphore(_AT_ONCE)

    def get(self, key: str) -> bytes | None:
        return self._call(self.inner.get, key)

    def put(self, key: str, value: Buffer) -> None:
        self._call(self.inner.put, key, value if isinstance(value, bytes) else bytes(flat(value)))

    def delete(self, key: str) -> bool:
        return self._call(self.inner.delete, key)

    def keys(self) -> Iterator[str]:
        return iter(self._call(lambda: list(self.inner.keys())))

    def entries(self) -> Iterator[Entry]:
        return iter(self._call(lambda: list(list_entries(self.inner))))

    def close(self) -> None:
        _answer(self._run(super().close))  # also where the breaker refuses calls

    def _call(self, function: Callable[..., _Answer], *args: Any) -> _Answer:
        def run() -> _Call:
            return self._run(function, *args)

        # What the store raises by itself is none of the breaker's business: it only knows of calls that hang.
        return _answer(self._breaker.call(run) if self._breaker else run())  # type: ignore[no-any-return]

    def _run(self, function: Callable[..., object], *args: Any) -> _Call:
        """The call, when it has come back."""
        end = time.monotonic() + self.timeout
        free = self._slots()
        if not free.acquire(timeout=self.timeout):
            raise StoreTimeoutError(f"{self._name} did not answer {_AT_ONCE} calls that are still waiting for it")
        call = _Call(function, args, free, self._name)
        try:
            threading.Thread(target=call.run, name="ortcache-timed", daemon=True).start()
        except BaseException:
            free.release()
            raise
        if not call.done.wait(max(0.0, end - time.monotonic())):
            call.given_up = True
            raise StoreTimeoutError(f"{self._name} did not answer within {self.timeout:g} s")
        return call

    def _slots(self) -> threading.BoundedSemaphore:
        pid, free = self._free
        if pid != os.getpid():  # a fork copies no thread, and so none gives its slot back
            free = threading.BoundedSemaphore(_AT_ONCE)
            self._free = os.getpid(), free
        return free


class _Call:
    """One call on a thread of its own."""

    def __init__(
        self, function: Callable[..., object], args: tuple[Any, ...], free: threading.BoundedSemaphore, name: str
    ) -> None:
        self._function = function
        self._args = args
        self._free = free
        self._name = name
        self.done = threading.Event()
        self.given_up = False
        self.answer: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.answer = self._function(*self._args)
        except BaseException as error:
            self.error = error
        finally:
            del self._function, self._args
            self._free.release()
            self.done.set()
            if self.given_up:
                _log.debug("%s answered at last, to a call that was given up: %r", self._name, self.error)


def _answer(call: _Call) -> Any:
    """What the call gave, or raised."""
    if call.error is None:
        return call.answer
    try:
        raise call.error
    finally:
        call.error = None  # or its traceback would hold it
