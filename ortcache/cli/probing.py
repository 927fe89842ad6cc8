"""Runs the probe of ``doctor`` and reads what it found, also where it crashed or hung."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

__all__ = ["probe"]

_TIMEOUT = 120  # seconds: a cold start from a slow disk is not a hang


def probe(library: str | None) -> dict[str, dict[str, Any]]:
    """Stage to ``{"found": …}`` or ``{"failed": …}``; stages after one that ended the process are not there."""
    if not sys.executable:
        return {"find": {"failed": "this Python does not know its own executable, so nothing could be tried"}}
    command = [sys.executable, "-P", "-W", "ignore", "-m", "ortcache.cli.probe", *([library] if library else [])]
    # The same modules as here, in the same order: with -P, none of the working directory before them.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    try:
        done = subprocess.run(
            command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_TIMEOUT, check=False
        )
        output, noise, end = done.stdout, done.stderr, _end(done.returncode)
    except subprocess.TimeoutExpired as error:
        output, noise, end = error.stdout or b"", error.stderr or b"", f"gave no answer in {_TIMEOUT} seconds"
    return _read(output.decode("utf-8", "replace"), end, noise.decode("utf-8", "replace"))


def _end(code: int) -> str | None:
    """How the process ended, in words; None for a normal end."""
    if code == 0:
        return None
    if code < 0:
        try:
            return f"ended the process with {signal.Signals(-code).name}"
        except ValueError:
            pass
    return f"ended the process with exit code {code}"


def _read(output: str, end: str | None, noise: str) -> dict[str, dict[str, Any]]:
    stages: dict[str, dict[str, Any]] = {}
    for line in output.splitlines():
        try:
            kind, name, *rest = json.loads(line)
        except ValueError:  # cut short by the end of the process
            continue
        stages[name] = {} if kind == "begin" else {"found" if kind == "done" else "failed": rest[0]}
    unfinished = next((name for name, stage in stages.items() if not stage), None)
    if end is None and unfinished is not None:
        end = "ended the process without a word"
    if end is not None:
        last = noise.strip().splitlines()[-1:]
        stages[unfinished or "end"] = {"failed": ": ".join([end, *last]), "ended": True}
    return stages
