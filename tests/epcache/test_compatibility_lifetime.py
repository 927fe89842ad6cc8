"""Nothing that lives too short, or too long: references, registrations, foreign threads."""

from __future__ import annotations

import ctypes
import gc
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ortcache.core import callbacks
from ortcache.core.named_buffers import read_pointer, write_pointer
from ortcache.ep import MulEp
from ortcache.errors import ClosedError
from ortcache.host import attach
from ortcache.runtime import Runtime

from ..support.backends import wanted
from ..support.cache_eps import EXPECTED, FEEDS, MODEL, LazyEp, Recorder, cached_session
from ..support.ep_classes import registered
from ..support.resources import descriptors, resident


def dropped_options(rt: Runtime, devices: Any, calls: list[str]) -> Any:
    """Options with functions that nobody else refers to; ``calls`` gets what they are called for."""
    options = rt.session_options(intra_op_num_threads=1)
    options.set_ep_cache(read=lambda key: calls.append("read"), write=lambda key, value: calls.append("write"))
    options.append_ep(devices)
    gc.collect()
    return options


def test_functions_that_nobody_refers_to_are_there_for_a_session_and_a_run(rt: Runtime) -> None:
    calls: list[str] = []
    with registered(rt, LazyEp) as devices:
        options = dropped_options(rt, devices, calls)
        session = rt.session(MODEL, options)
        del options
        gc.collect()
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert calls == ["read", "write"]
        del session
        gc.collect()


def test_they_are_there_for_a_clone_and_its_session(rt: Runtime) -> None:
    calls: list[str] = []
    with registered(rt, LazyEp) as devices:
        clone = dropped_options(rt, devices, calls).clone()
        gc.collect()
        session = rt.session(MODEL, clone)
        clone.set_ep_cache()
        del clone
        gc.collect()
        session.run(FEEDS)
        assert calls == ["read", "write"]
        session.close()


@pytest.mark.parametrize("last", ["options", "session", "clone"])
def test_the_functions_go_with_the_last_that_may_call_them(rt: Runtime, last: str) -> None:
    recorder = Recorder()
    gone = weakref.ref(recorder)
    with registered(rt, LazyEp) as devices:
        options = rt.session_options(intra_op_num_threads=1, ep_cache=recorder)
        del recorder
        options.append_ep(devices)
        holders = {"options": options, "session": rt.session(MODEL, options), "clone": options.clone()}
        del options
        for name, holder in holders.items():
            if name != last:
                holder.close()
        gc.collect()
        assert gone() is not None
        holders[last].close()
        # The wrapper of a session still tells its counts: they refer to the functions.
        holders.clear()
        del holder
        gc.collect()
        assert gone() is None


def test_what_is_replaced_goes_at_once_where_nobody_inherited_it(rt: Runtime) -> None:
    with rt.session_options() as options:
        for _ in range(3):
            recorder = Recorder()
            gone = weakref.ref(recorder)
            options.set_ep_cache(recorder)
            del recorder
            assert gone() is not None
            options.set_ep_cache({})
            gc.collect()
            assert gone() is None


def test_a_cycle_through_the_functions_is_collected(rt: Runtime) -> None:
    class Application:
        def __init__(self, devices: Any) -> None:
            self.options = rt.session_options(intra_op_num_threads=1)
            self.options.set_ep_cache(read=self.read)
            self.options.append_ep(devices)
            self.session = rt.session(MODEL, self.options)

        def read(self, key: str) -> None:
            """Refers to the application, which refers to the session."""

    with registered(rt, MulEp) as devices:
        application = Application(devices)
        gone = weakref.ref(application)
        application.session.run(FEEDS)
        application.options.close()
        application.session.close()
        del application
        gc.collect()
        assert gone() is None


def test_a_call_for_what_is_gone_is_an_error_and_no_crash(rt: Runtime) -> None:
    with rt.session_options(ep_cache={}) as options:
        token = options._ep_cache_set[0].value
    out, size = ctypes.c_void_p(), ctypes.c_size_t()
    read, write = read_pointer(rt.native), write_pointer(rt.native)
    for status in (
        read(token, b"key", rt.native.cpu_allocator, ctypes.byref(out), ctypes.byref(size)),
        write(token, b"key", b"x", 1),
    ):
        assert isinstance(rt.native.statuses.error_at(status, "late").__cause__, ClosedError)


def test_registering_and_unregistering_50_times_leaves_nothing(rt: Runtime) -> None:
    store: dict[str, bytes] = {}

    def once() -> None:
        with registered(rt, MulEp, LazyEp) as devices:
            with cached_session(rt, [d for d in devices if d.ep_name == MulEp.name], store) as session:
                session.run(FEEDS)

    for _ in range(10):
        once()
    memory, files = resident(), descriptors()
    for _ in range(50):
        once()
    grown = resident() - memory
    assert descriptors() == files
    # What dlopen keeps of a library that is not unloaded is a few kilobytes a time.
    assert grown < 50 * 32768, f"{grown / 50:.0f} bytes a time"


def held_entries() -> int:
    return sum(len(proposal.entries._held) for proposal in attach._proposals.values())


def test_setting_and_dropping_over_and_over_leaves_nothing(rt: Runtime) -> None:
    def once() -> None:
        with rt.session_options(ep_cache=Recorder()) as options:
            options.set_ep_cache({})
            with options.clone() as clone:
                clone.set_ep_cache(read=len)

    for _ in range(100):
        once()
    memory, tokens, held = resident(), len(callbacks._targets), held_entries()
    for _ in range(2000):
        once()
    assert len(callbacks._targets) == tokens
    assert held_entries() == held
    grown = resident() - memory
    allowed = 512 if wanted() == "host" else 2048  # the library that the tests make up forgets no tuple
    assert grown < 2000 * allowed, f"{grown / 2000:.0f} bytes a time"


def run_on_python_threads(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def run_on_c_threads(work: Callable[[], None]) -> None:
    """On threads that Python did not make and never heard of before."""
    libc = ctypes.CDLL(None)
    kind = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)
    start = kind(lambda _argument: work())
    handles = [ctypes.c_ulong() for _ in range(3)]
    for handle in handles:
        assert libc.pthread_create(ctypes.byref(handle), None, start, None) == 0
    libc.pthread_join.argtypes = [ctypes.c_ulong, ctypes.c_void_p]
    for handle in handles:
        assert libc.pthread_join(handle, None) == 0


@pytest.mark.parametrize("run", [run_on_python_threads, run_on_c_threads])
def test_foreign_threads_may_call_the_functions(rt: Runtime, run: Callable[[Callable[[], None]], None]) -> None:
    recorder = Recorder({"key": b"value" * 100})
    found: list[Any] = []
    problems: list[BaseException] = []
    read, write = read_pointer(rt.native), write_pointer(rt.native)

    def work() -> None:
        try:
            for _ in range(200):
                out, size = ctypes.c_void_p(), ctypes.c_size_t()
                allocator = rt.native.cpu_allocator
                assert read(state, b"key", allocator, ctypes.byref(out), ctypes.byref(size)) is None
                found.append(ctypes.string_at(out.value or 0, size.value))
                allocator.contents.Free(allocator, out)
                assert write(state, b"other", b"x" * 10, 10) is None
        except BaseException as error:
            problems.append(error)

    with rt.session_options(ep_cache=recorder) as options:
        state = options._ep_cache_set[0].value
        run(work)
        assert options.ep_cache.stats.hits == options.ep_cache.stats.writes == 600
    assert problems == []
    assert found == [b"value" * 100] * 600


@pytest.mark.parametrize("run", [run_on_python_threads, run_on_c_threads])
def test_foreign_threads_may_make_and_run_sessions(rt: Runtime, run: Callable[[Callable[[], None]], None]) -> None:
    recorder, outputs = Recorder(), []

    with registered(rt, LazyEp) as devices:

        def work() -> None:
            for _ in range(5):
                with cached_session(rt, devices, recorder) as session:
                    outputs.append(session.run(FEEDS)[0].tobytes())
                    assert session.ep_cache_support() == {"LazyEp": 3}
                    assert session.ep_cache_stats().writes == 1

        run(work)
    assert outputs == [EXPECTED.tobytes()] * 15
