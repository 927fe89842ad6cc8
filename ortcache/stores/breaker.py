"""A backend that failed is left alone for a while: nobody waits for its timeout at every key."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..errors import InputError, StoreError, StoreTimeoutError
from .fork import ForkLock

__all__ = ["RETRY_AFTER", "Breaker"]

#: Seconds for which a backend that failed is left alone.
RETRY_AFTER = 5.0

_log = logging.getLogger("ortcache.stores")
_Answer = TypeVar("_Answer")
_END = object()


class Breaker:
    """Passes calls to a backend until one fails; then refuses them for a stated time; then lets one through to try.

    The first failure is logged as a warning, what follows it is not, and neither is a wrong argument a failure
    (InputError, TypeError). Any number of threads may call at once.

    Args:
        retry_after: seconds for which calls are refused.
        name: what failed, in messages.
        clock: gives seconds.

    Raises:
        InputError: the time is negative, or no number.
    """

    def __init__(
        self,
        retry_after: float = RETRY_AFTER,
        *,
        name: str = "the store",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if isinstance(retry_after, bool) or not isinstance(retry_after, int | float) or not retry_after >= 0:
            raise InputError(f"retry_after is seconds, 0 or more, not {retry_after!r}")
        self.retry_after = retry_after
        self.name = name
        self._clock = clock
        self._lock = ForkLock()
        self._until = 0.0
        # Text and kind of the last failure; not the exception, which would keep alive what its frames refer to.
        self._reason: tuple[str, type[StoreError]] | None = None

    @property
    def open(self) -> bool:
        """Is a call refused now?"""
        with self._lock:
            return self._reason is not None and self._clock() < self._until

    def call(self, function: Callable[..., _Answer], *args: Any) -> _Answer:
        """The function's answer, where it may be asked.

        Raises:
            StoreError: it was not asked, as it failed just before (StoreTimeoutError where it did not answer in time).
            Exception: what the function raises.
        """
        self._enter(claim=True)
        try:
            answer = function(*args)
        except (InputError, TypeError):
            raise
        except Exception as error:
            self._failed(error)
            if isinstance(error, StoreError):
                error.told = True
            raise
        self._worked()
        return answer

    def iterate(self, function: Callable[..., Iterator[_Answer]], *args: Any) -> Iterator[_Answer]:
        """What the function's iterator gives; each step is a call."""
        items = self.call(lambda: iter(function(*args)))
        while (item := self.call(next, items, _END)) is not _END:
            yield item

    def check(self) -> None:
        """Raises what `call` would where it may not be asked now."""
        self._enter(claim=False)

    def _enter(self, *, claim: bool) -> None:
        with self._lock:
            if self._reason is None:
                return
            left = self._until - self._clock()
            if left <= 0:
                if claim:  # this one tries; the others are refused until it knows
                    self._until = self._clock() + self.retry_after
                return
            reason, kind = self._reason
        refusal = kind(f"{self.name} is not tried for another {left:.1f} s, as it failed: {reason}")
        refusal.told = True
        raise refusal

    def _failed(self, error: Exception) -> None:
        reason = str(error) or type(error).__name__
        kind = StoreTimeoutError if isinstance(error, TimeoutError) else StoreError
        with self._lock:
            first = self._reason is None
            self._reason = reason, kind
            self._until = self._clock() + self.retry_after
        if first:
            _log.warning("%s failed, and is tried again in %g s: %s", self.name, self.retry_after, reason)

    def _worked(self) -> None:
        if self._reason is None:  # the common case takes no lock
            return
        with self._lock:
            again, self._reason = self._reason is not None, None
        if again:
            _log.info("%s works again", self.name)
