"""The bound on how long a store may hang."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator

from ortcache.errors import StoreTimeoutError
from ortcache.stores import Store

__all__ = ["in_time", "sixteen_threads_wait_no_longer_than_one"]

_NOISE = 0.15  # seconds that a busy machine may add


@contextlib.contextmanager
def in_time(timeout: float, what: str) -> Iterator[None]:
    """Fails where it takes more than 1.5 times the timeout."""
    begun = time.monotonic()
    yield
    took = time.monotonic() - begun
    assert took <= 1.5 * timeout + _NOISE, f"{what} took {took:.3f} s with a timeout of {timeout} s"


def sixteen_threads_wait_no_longer_than_one(store: Store) -> None:
    """Each reads from a store with a timeout of half a second, whose server hangs."""
    waits: list[float] = []

    def ask() -> None:
        begun = time.monotonic()
        with contextlib.suppress(StoreTimeoutError):
            store.get("key")
        waits.append(time.monotonic() - begun)

    threads = [threading.Thread(target=ask) for _ in range(16)]
    with in_time(0.5, "16 threads"):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
    assert len(waits) == 16
