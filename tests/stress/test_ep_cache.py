"""Sessions, callbacks and replaced functions many times over: memory stays flat. ``ORTCACHE_STRESS`` says how many."""

from __future__ import annotations

import ctypes
import logging
import os
import threading
from collections.abc import Iterator
from typing import Any

import pytest

import ortcache as oc
from ortcache.core import callbacks
from ortcache.core.named_buffers import read_pointer, write_pointer
from ortcache.ep import MulEp, instances
from ortcache.host import attach
from ortcache.runtime import Runtime

from ..support.backends import open_runtime
from ..support.cache_eps import EXPECTED, FEEDS, MODEL, LazyEp, Recorder, cached_session
from ..support.ep_classes import registered
from ..support.resources import descriptors, resident
from ..support.stress import Alive

STRESS = int(os.environ.get("ORTCACHE_STRESS", "40"))  # 2000 in the stress session
SESSIONS = STRESS // 2 if STRESS > 40 else 30
CYCLES = STRESS * 50  # 100,000
CALLS = STRESS * 50  # of each thread
THREADS = 8
_SPARE = 2 << 20  # bytes: what allocators and caches of the interpreter may grow by


@pytest.fixture(scope="module")
def rt() -> Iterator[Runtime]:
    with open_runtime() as runtime:
        yield runtime


@pytest.fixture(autouse=True)
def unseen() -> Iterator[None]:
    """Nobody keeps the lines that tell what was made and released: pytest would, which looks like a leak."""
    logger, hiding = logging.getLogger("ortcache.lifetime"), Alive(hide=True)
    logger.addFilter(hiding)
    yield
    logger.removeFilter(hiding)


def told(capsys: pytest.CaptureFixture[str], what: str, before: int, after: int) -> None:
    """Print the figures, and hold the memory to them."""
    with capsys.disabled():
        print(f"\n{what}; memory {before / 1e6:.1f} MB at the start, {after / 1e6:.1f} MB at the end")
    assert after - before < _SPARE, what


def test_sessions_over_one_store(rt: Runtime, capsys: pytest.CaptureFixture[str]) -> None:
    cache = oc.MemoryStore()
    shared = oc.CacheCallbacks(cache.get, cache.put, strict=True)

    def once() -> None:
        with cached_session(rt, mul, shared) as session:
            assert session.run(FEEDS)[0].tobytes() == EXPECTED.tobytes()
        with cached_session(rt, lazy, shared) as session:
            session.run(FEEDS)

    with registered(rt, MulEp) as mul, registered(rt, LazyEp) as lazy:
        for _ in range(20):
            once()
        before, files = resident(), descriptors()
        for _ in range(SESSIONS // 2):
            once()
        after = resident()
        assert descriptors() == files
        assert instances() == []
    stats = shared.stats
    assert (stats.read_errors, stats.write_errors) == (0, 0)
    told(capsys, f"{SESSIONS} sessions, {stats.reads + stats.writes} callbacks, 1 thread", before, after)


def test_callbacks_from_foreign_threads(rt: Runtime, capsys: pytest.CaptureFixture[str]) -> None:
    """Half of the threads are Python's, the others C's."""
    recorder = Recorder({"key": b"value" * 200})
    read, write = read_pointer(rt.native), write_pointer(rt.native)
    calls, allocator = CALLS // THREADS, rt.native.cpu_allocator
    problems: list[BaseException] = []

    def put(key: str, value: memoryview) -> None:
        assert len(value) == 10

    def work() -> None:
        try:
            for _ in range(calls):
                out, size = ctypes.c_void_p(), ctypes.c_size_t()
                assert read(state, b"key", allocator, ctypes.byref(out), ctypes.byref(size)) is None
                assert size.value == 1000
                allocator.contents.Free(allocator, out)
                assert write(state, b"other", b"x" * 10, 10) is None
        except BaseException as error:
            problems.append(error)

    with rt.session_options() as options:
        options.set_ep_cache(read=recorder.values.get, write=put)
        token = options._ep_cache_set[0]
        assert token is not None
        state = token.value
        on_threads(work)
        before = resident()
        on_threads(work)
        after = resident()
        stats = options.ep_cache.stats
    assert problems == []
    assert stats.hits == stats.writes == 2 * THREADS * calls
    told(capsys, f"{2 * THREADS * calls} callbacks, {THREADS} foreign threads", before, after)


def on_threads(work: Any) -> None:
    libc = ctypes.CDLL(None)
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    start = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(lambda _argument: work())
    of_c = [ctypes.c_ulong() for _ in range(THREADS // 2)]
    of_python = [threading.Thread(target=work) for _ in range(THREADS // 2)]
    for handle, thread in zip(of_c, of_python, strict=True):
        assert libc.pthread_create(ctypes.byref(handle), None, start, None) == 0
        thread.start()
    for handle, thread in zip(of_c, of_python, strict=True):
        assert libc.pthread_join(handle, None) == 0
        thread.join()


def test_set_and_drop(rt: Runtime, capsys: pytest.CaptureFixture[str]) -> None:
    """On one options object over and over, and on ones of their own."""

    def once() -> None:
        options.set_ep_cache({})
        with rt.session_options(ep_cache={}) as dropped, dropped.clone():
            pass

    with rt.session_options() as options:
        for _ in range(500):
            once()
        before, tokens = resident(), len(callbacks._targets)
        for _ in range(CYCLES):
            once()
        after = resident()
        assert len(callbacks._targets) == tokens
        assert all(len(p.entries) <= 1 and len(p.entries._held) <= 1 for p in attach._proposals.values())
    told(capsys, f"{CYCLES} set-and-drop cycles", before, after)


def test_sessions_on_threads_while_functions_are_replaced(rt: Runtime, capsys: pytest.CaptureFixture[str]) -> None:
    """Options that are cloned on every thread, while each replaces the functions of its own."""
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(max(2, SESSIONS // 32)):
                with options.clone() as mine:
                    mine.set_ep_cache(Recorder())
                    with rt.session(MODEL, mine) as session:
                        mine.set_ep_cache()
                        assert session.run(FEEDS)[0].tobytes() == EXPECTED.tobytes()
                        assert session.ep_cache_stats().writes == 1
        except BaseException as error:
            problems.append(error)

    with registered(rt, MulEp) as devices, rt.session_options(intra_op_num_threads=1, ep_cache={}) as options:
        options.append_ep(devices)
        on_threads(work)
        before = resident()
        on_threads(work)
        after = resident()
    assert problems == []
    told(capsys, f"{THREADS * max(2, SESSIONS // 32)} sessions, {THREADS} threads", before, after)
