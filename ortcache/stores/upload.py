"""A value on its way to an object store, watched for progress."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Iterator
from typing import Any

__all__ = ["PART", "PARTS_AT_ONCE", "Upload"]

#: Bytes of one part of a large upload: S3 takes 10,000 parts from 5 MiB on.
PART = 8 << 20

#: Parts that are sent at the same time.
PARTS_AT_ONCE = 4

_MEGABYTE = 1 << 20


class Upload:
    """A value in one piece or in parts, and how long no part of it may get through.

    Args:
        data: the value.
        timeout: seconds for each megabyte that is on its way, one at least.

    Attributes:
        source: what obstore is to send.
    """

    def __init__(self, data: bytes, timeout: float) -> None:
        self.source: bytes | Iterator[memoryview] = data if len(data) <= PART else self._parts(data)
        on_its_way = min(len(data), PART * PARTS_AT_ONCE)
        self._patience = timeout * max(1, -(-on_its_way // _MEGABYTE))
        self._moved = time.monotonic()

    def _parts(self, data: bytes) -> Iterator[memoryview]:
        """Called for the next part when there is room for it: some earlier one got through."""
        view = memoryview(data)
        for start in range(0, len(data), PART):
            self._moved = time.monotonic()
            yield view[start : start + PART]

    async def watch(self, sending: Awaitable[Any]) -> None:
        """Wait until it is sent.

        Raises:
            TimeoutError: nothing got through for too long; it is given up.
        """
        task = asyncio.ensure_future(sending)
        try:
            while not task.done():
                left = self._moved + self._patience - time.monotonic()
                if left <= 0:
                    raise TimeoutError
                await asyncio.wait({task}, timeout=left)
            task.result()
        finally:
            task.cancel()
