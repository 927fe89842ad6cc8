"""Warms a provider that knows only a directory."""

from __future__ import annotations

import time
from typing import Any

from ..bridge import BridgedDirectory, BridgeStats, directory
from ..bridge.options import provider_options
from ..bridge.table import TABLE
from .warm_feeds import run_with_zeros
from .warm_job import Emit, Job
from .warm_provider import Provider, short_name

__all__ = ["knows_directory", "warm_through_directory"]


def knows_directory(name: str) -> bool:
    """Is it known how this provider is told its directory?"""
    return name in TABLE


def warm_through_directory(runtime: Any, provider: Provider, job: Job, emit: Emit) -> dict[str, Any]:
    """Make the session with a directory that the store fills, and store what is in it afterwards."""
    name, scope = short_name(provider.name), provider.scope(runtime, job)
    mode = "r" if job.read_only else "rw"
    with directory(job.store, name, scope=scope, mode=mode, strict=True) as private:
        if private.stats.hits:
            emit("hit", key=name, size=private.stats.restored_bytes)
        else:
            emit("build", key=name, size=None)

        def make(private: BridgedDirectory) -> Any:
            options = runtime.session_options()
            settings = provider_options(provider.name, private, job.options, option=job.cache_option)
            provider.append(options, settings)
            return runtime.session(job.model, options)

        start = time.perf_counter()
        with private.session(make) as session:
            session_seconds = time.perf_counter() - start
            run_with_zeros(session, job, emit)
        seconds = time.perf_counter() - start
    stats = private.stats
    outcome, problem = _judge(stats, job, provider.name)
    return {
        "outcome": outcome,
        "problem": problem,
        "seconds": seconds,
        "session_seconds": session_seconds,
        "bytes_stored": stats.saved_bytes,
        "bytes_read": stats.restored_bytes,
        "entry": name,
        "scope": {"digest": scope.digest, "parts": dict(scope.parts)},
        "stats": stats.as_dict(),
    }


def _judge(stats: BridgeStats, job: Job, name: str) -> tuple[str, str | None]:
    """Hit, built or failed; and why."""
    if stats.saved_files:
        return "built", None
    if stats.hits and not stats.rewritten_files and not (job.read_only and stats.dropped_files):
        return "hit", None
    if job.read_only:
        return "failed", f"not warm: {name} built what is not in the store"
    if stats.hits:
        return "failed", f"{name} did not use what is stored, and made the same anew"
    later = "" if job.runs else ". One that builds when a session first runs needs --runs 1"
    return "failed", f"{name} wrote nothing into its directory{later}"
