"""Two things timed in turn, so that whatever else the machine does hits both alike."""

from __future__ import annotations

import atexit
import functools
import gc
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Row", "alternate", "calls", "child"]

_ROOT = Path(__file__).resolve().parents[2]


@dataclass
class Row:
    """One line of the table; ``goal`` is the highest ratio of ours to theirs that is good, None where none is set."""

    what: str
    ours: str
    theirs: str
    ratio: float
    goal: float | None = None


@functools.cache
def _environment() -> dict[str, str]:
    folder = tempfile.mkdtemp(prefix="ortcache-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": folder}


def alternate(ours: Callable[[], float], theirs: Callable[[], float], rounds: int) -> tuple[float, float, float]:
    """The medians of what both give, and the median of the ratios of each round."""
    ours(), theirs()
    pairs = []
    for turn in range(rounds):
        if turn % 2:
            second = theirs()
            pairs.append((ours(), second))
        else:
            pairs.append((ours(), theirs()))
    mine, others = zip(*pairs, strict=True)
    return statistics.median(mine), statistics.median(others), statistics.median(a / b for a, b in pairs)


def calls(function: Callable[[], object], times: int) -> Callable[[], float]:
    """Gives the seconds that one call takes, over ``times`` calls."""
    repeated = range(times)

    def measure() -> float:
        gc.disable()
        start = time.perf_counter()
        for _ in repeated:
            function()
        seconds = time.perf_counter() - start
        gc.enable()
        return seconds / times

    return measure


def child(code: str, *args: str, python: str = sys.executable) -> str:
    """What a fresh interpreter prints for the code. Both sides find their bytecode compiled, as after an install."""
    command = [python, "-c", code, *args]
    done = subprocess.run(command, cwd=_ROOT, env=_environment(), capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{code!r} failed: {done.stderr}")
    return done.stdout.strip()
