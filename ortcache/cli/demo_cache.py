"""The second half of ``demo``: a cold and a warm process over one directory store, and a damaged entry."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..errors import OrtcacheError
from ..stores.directory import DirectoryStore
from .output import columns

__all__ = ["cache_phases", "cache_text"]

_TIMEOUT = 60  # seconds

#: What is done to the store before each process.
_PHASES = ("cold", "warm", "damaged", "warm again")

_COLUMNS = ("reads", "hits", "misses", "rejected", "writes", "bytes_read", "bytes_written")


def cache_phases(library: str) -> list[dict[str, Any]]:
    """Run a process for each phase.

    Raises:
        OrtcacheError: one of them failed.
    """
    with tempfile.TemporaryDirectory(prefix="ortcache-demo-") as folder:
        store = Path(folder) / "store"
        phases = []
        for phase in _PHASES:
            if phase == "damaged":
                _damage(DirectoryStore(store))
            phases.append({"phase": phase, **_process(library, store)})
        return phases


def cache_text(phases: list[dict[str, Any]]) -> list[str]:
    """The table, and what it shows."""
    first = phases[0]
    header = ("process", *(name.replace("_", " ") for name in _COLUMNS), "session", "the provider says")
    rows = [header]
    for phase in phases:
        stats = {**phase["stats"], "reads": sum(phase["stats"][n] for n in ("hits", "misses", "read_errors"))}
        outcomes = ", ".join(name.replace("_", " ") for name in phase["outcomes"])
        rows.append((phase["phase"], *(stats[n] for n in _COLUMNS), f"{phase['seconds'] * 1000:.0f} ms", outcomes))
    equal = all(phase["equal"] for phase in phases)
    support = ", ".join(f"{name}: {flags}" for name, flags in first["support"].items())
    return [
        "",
        f"A provider written in Python, its cache in a directory store through callbacks ({first['backend']}):",
        *columns(rows, right=range(1, len(_COLUMNS) + 2)),
        f"support    {support}",
        f"outputs    {'equal to' if equal else 'NOT equal to'} the CPU provider's in every process",
    ]


def _process(library: str, store: Path) -> dict[str, Any]:
    command = [sys.executable, "-P", "-m", "ortcache.cli.demo_process", library, os.fspath(store)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=_TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise OrtcacheError(f"a process of the demo gave no answer in {_TIMEOUT} seconds") from None
    if done.returncode:
        raise OrtcacheError(f"a process of the demo failed: {(done.stderr.strip().splitlines() or ['no message'])[-1]}")
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def _damage(store: DirectoryStore) -> None:
    """Flip a bit in the middle of every value."""
    for key in list(store.keys()):
        value = bytearray(store.get(key) or b"")
        value[len(value) // 2] ^= 1
        store.put(key, value)
