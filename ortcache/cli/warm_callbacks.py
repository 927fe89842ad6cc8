"""Warms a provider that keeps its cache through callbacks."""

from __future__ import annotations

import time
from typing import Any

from ..epcache import EpCacheStats
from ..stores.counted import Counted
from ..stores.events import Event, EventKind
from ..stores.protocol import close_store
from ..stores.url import open_store
from .warm_feeds import run_with_zeros
from .warm_job import Emit, Job
from .warm_provider import Provider

__all__ = ["warm_through_callbacks"]


def warm_through_callbacks(runtime: Any, provider: Provider, job: Job, emit: Emit) -> dict[str, Any]:
    """Make the session with the store behind the callbacks, and say what went through them."""
    stored: list[Event] = []
    failed: list[Event] = []

    def hook(event: Event) -> None:
        if event.kind is EventKind.STORED:
            stored.append(event)
        elif event.kind is EventKind.FAILED:
            failed.append(event)
        emit(event.kind.name.lower(), key=event.key, size=event.size)

    opened = open_store(job.store, **({"mode": "r"} if job.read_only else {}))
    try:
        scope = provider.scope(runtime, job) if job.extra else None
        store = Counted(scope.over(opened) if scope else opened, hook)
        options = runtime.session_options()
        provider.append(options, job.options)
        options.set_ep_cache(read=store.get, write=None if job.read_only else store.put)
        start = time.perf_counter()
        with runtime.session(job.model, options) as session:
            session_seconds = time.perf_counter() - start
            run_with_zeros(session, job, emit)
            stats, support = session.ep_cache_stats(), session.ep_cache_support().get(provider.name)
        seconds = time.perf_counter() - start
    finally:
        close_store(opened)
    outcome, problem = _judge(stats, job, provider.name, support=bool(support))
    return {
        "outcome": outcome,
        "problem": "; ".join([problem, *(f"{event.key}: {event.error}" for event in failed[:3])]) if problem else None,
        "seconds": seconds,
        "session_seconds": session_seconds,
        "stored": {event.key: event.size for event in stored},
        "build_seconds": sum(event.build_seconds or 0.0 for event in stored),
        "bytes_stored": sum(event.size or 0 for event in stored),
        "bytes_read": stats.bytes_read,
        "scope": {"digest": scope.digest, "parts": dict(scope.parts)} if scope else None,
        "backend": runtime.ep_cache_backend,
        "stats": stats.as_dict(),
    }


def _judge(stats: EpCacheStats, job: Job, name: str, *, support: bool) -> tuple[str, str | None]:
    """Hit, built or failed; and why."""
    if not support:
        return "failed", f"{name} does not keep its cache through callbacks"
    if stats.write_errors:
        return "failed", f"{stats.write_errors} of what {name} made could not be stored"
    if stats.writes:
        return "built", None
    if stats.read_errors:
        return "failed", "the store could not be read"
    missed = stats.misses + stats.rejected
    if job.read_only and missed:
        return "failed", f"not warm: {missed} of what {name} looks for is not in the store"
    if stats.hits and not missed:
        return "hit", None
    later = "" if job.runs else ". One that builds when a session first runs needs --runs 1"
    return "failed", f"{name} stored nothing{later}"
