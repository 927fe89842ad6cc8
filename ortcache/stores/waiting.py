"""Waits for what a library does in the background, and not for longer than it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

__all__ = ["run"]

_Answer = TypeVar("_Answer")


def run(function: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
    """What the coroutine function gives, in an event loop of its own. The caller may run in one itself."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return _run(function)
    with ThreadPoolExecutor(max_workers=1) as pool:
        return pool.submit(_run, function).result()


def _run(function: Callable[[], Coroutine[Any, Any, _Answer]]) -> _Answer:
    # Not asyncio.run: it would replace the event loop that the thread's owner has set.
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(function())
    finally:
        try:
            left = asyncio.all_tasks(loop)  # there are some after an interrupt
            for task in left:
                task.cancel()
            if left:
                loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        finally:
            loop.close()
