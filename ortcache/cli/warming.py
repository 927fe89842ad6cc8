"""Runs the process that warms a model, and shows what it tells."""

from __future__ import annotations

import contextlib
import json
import math
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO, Any

from ..bridge.places import roots
from ..bridge.private import sweep
from .progress import Display
from .units import size_text
from .warm_job import Job

__all__ = ["warm_model"]

_TICK = 0.25  # seconds

#: Seconds after the process has ended in which what it wrote last is read.
_LAST = 5.0

#: Lines of what a process wrote to standard error that are kept, to say how it ended.
_KEPT = 20


def warm_model(job: Job, display: Display) -> dict[str, Any]:
    """Warm a model in a process of its own; gives the result, with ``outcome`` "hit", "built" or "failed"."""
    start = time.monotonic()
    name = os.path.basename(job.model) or job.model  # noqa: PTH119 - a name to show
    display.begin(name, f"making a session with {job.ep}")
    result: dict[str, Any] = {}
    noise: list[str] = []
    with _process(job) as process:
        for kind, line in _lines(process, display):
            if kind == "err":
                display.say(line)
                noise = [*noise[1 - _KEPT :], line]
            else:
                event = _event(line)
                if event["event"] in ("done", "failed"):
                    result = event
                else:
                    _show(event, display)
    if not result:
        last = f": {noise[-1]}" if noise else ""
        result = {"event": "failed", "error": f"the process that made the session {_end(process.returncode)}{last}"}
    if result.pop("event") == "failed":
        result = {"outcome": "failed", "problem": result["error"], "usage": result.get("usage", False)}

    return {"model": job.model, **result, "process_seconds": time.monotonic() - start}


def _event(line: str) -> dict[str, Any]:
    with contextlib.suppress(ValueError):
        event: dict[str, Any] = json.loads(line)
        return event
    return {"event": "cut short"}  # by the end of the process


def _show(event: dict[str, Any], display: Display) -> None:
    match event["event"]:
        case "build":
            display.change(f"{event['key']} is not stored: building, which may take long")
        case "hit":
            display.change(f"read {event['key']}, {size_text(event['size'])}")
        case "stored":
            display.change(f"stored {event['key']}, {size_text(event['size'])}")
        case "evicted":
            display.say(f"{event['key']} made room for it, {size_text(event['size'])}: the store's cap is small")
        case "say":
            display.say(event["text"])
        case "run":
            display.change(f"run {event['number']}")


@contextlib.contextmanager
def _process(job: Job) -> Iterator[subprocess.Popen[str]]:
    """The process, ended with this block however that ends."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "ortcache.cli.warm_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        text=True,
        encoding="utf-8",
        errors="backslashreplace",
    )
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended already, and that is told
            process.stdin.write(job.to_json())  # not on its command line, which everybody can read
            process.stdin.close()
        yield process
        process.wait()
    finally:
        by_us = process.poll() is None
        if by_us:
            process.kill()
            process.wait()
        if process.returncode:  # it did not come to remove its private directory
            sweep(roots(), "", ended=process.pid if by_us else None)
        signal.signal(signal.SIGTERM, before)


def _lines(process: subprocess.Popen[str], display: Display) -> Iterator[tuple[str, str]]:
    """What it writes, line by line, as ("out" or "err", line), until it has closed both, or has ended: a process that
    the provider left behind may hold them open. The display goes on."""
    lines: queue.Queue[tuple[str, str | None]] = queue.Queue()

    def read(kind: str, stream: IO[str]) -> None:
        with stream:  # closed here, as closing it elsewhere waits for this
            for line in stream:
                lines.put((kind, line.rstrip("\n")))
        lines.put((kind, None))

    assert process.stdout is not None and process.stderr is not None
    for kind, stream in (("out", process.stdout), ("err", process.stderr)):
        threading.Thread(target=read, args=(kind, stream), daemon=True).start()
    open_streams, end = 2, math.inf
    while open_streams and time.monotonic() < end:
        if end == math.inf and process.poll() is not None:
            end = time.monotonic() + _LAST
        try:
            kind, line = lines.get(timeout=_TICK)
        except queue.Empty:
            display.tick()
            continue
        if line is None:
            open_streams -= 1
        else:
            yield kind, line


def _terminate(number: int, _frame: object) -> None:
    raise SystemExit(128 + number)


def _end(code: int | None) -> str:
    if code is not None and code < 0:
        with contextlib.suppress(ValueError):
            return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code} and said nothing"
