"""The process in which ``warm`` warms one model: whatever a provider does to it, the command lives on.

``python -m ortcache.cli.warm_process`` reads a `Job` as JSON from standard input, and writes JSON lines:
``{"event": name, …}`` while it works, and at the end ``{"event": "done", …}`` or ``{"event": "failed", …}``.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
import warnings
from typing import Any

from .output import error_text
from .warm_job import Emit, Job, UsageError

__all__: list[str] = []


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the command decides, and ends this process
    # What libraries print goes to stderr, so that it cannot get between the lines.
    stream = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    lock = threading.Lock()

    def emit(event: str, **facts: Any) -> None:
        line = json.dumps({"event": event, **facts})
        with lock:
            print(line, file=stream, flush=True)

    job = Job.from_json(sys.stdin.read())
    _tell_what_is_logged(emit)
    try:
        emit("done", **_warm(job, emit))
    except Exception as error:
        emit("failed", error=error_text(error), usage=isinstance(error, UsageError))


def _warm(job: Job, emit: Emit) -> dict[str, Any]:
    from ..runtime import load
    from .warm_callbacks import warm_through_callbacks
    from .warm_directory import knows_directory, warm_through_directory
    from .warm_provider import find_provider

    with load(job.library) as runtime:
        provider = find_provider(runtime, job.ep, job.ep_library, job.device)
        way = job.way or ("directory" if job.cache_option or knows_directory(provider.name) else "callbacks")
        warm = warm_through_directory if way == "directory" else warm_through_callbacks
        facts = {"ep": provider.name, "ep_version": provider.version, "device": provider.device, "way": way}
        return {**facts, "onnxruntime": runtime.version, **warm(runtime, provider, job, emit)}


def _tell_what_is_logged(emit: Emit) -> None:
    """Log lines and warnings become events. Of a bridged directory also why it is missed, which is no warning."""
    handler = logging.Handler()
    handler.emit = lambda record: emit("say", text=record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    logging.getLogger("ortcache.bridge").setLevel(logging.INFO)
    warnings.simplefilter("always")
    warnings.showwarning = lambda message, *_: emit("say", text=str(message))


if __name__ == "__main__":
    main()
