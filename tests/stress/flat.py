"""Is the process as large, and are there as many C objects, after doing the same thing many times?"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from pathlib import Path

from ..support.stress import Alive

__all__ = ["TIMES", "is_flat"]

#: How many times: few in a normal run, many in a stress run.
TIMES = int(os.environ.get("ORTCACHE_STRESS", "40"))

_SPARE = 2 << 20  # bytes: what allocators and caches of the interpreter may grow by


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def is_flat(alive: Alive, once: Callable[[], object], times: int, first: int = 10) -> None:
    """Fail where doing it ``times`` times leaves memory or C objects behind.

    Args:
        first: how often it is done at least before anything is counted.
    """
    for _ in range(max(first, times // 4)):  # what is made once, and the allocator's reserves
        once()
    alive.left()
    counts, before = dict(alive.counts), _resident()
    for _ in range(times):
        once()
    grown = _resident() - before
    assert alive.left() == {kind: n for kind, n in counts.items() if n and kind != "Environment"}
    assert grown < _SPARE, f"{grown / times:.0f} bytes a time, {times} times"
