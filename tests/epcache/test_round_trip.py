"""What an EP stores it finds again: in the same process, in others, at once, from any thread."""

from __future__ import annotations

import ctypes
import json
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.ep import MulEp
from ortcache.keys import key_problem
from ortcache.runtime import Runtime

from ..support.backends import child
from ..support.cache_eps import (
    BOTH,
    EXPECTED,
    FEEDS,
    MODEL,
    NAME,
    LazyEp,
    Recorder,
    cached_session,
    outcomes,
)
from ..support.ep_classes import PlainMul, registered
from ..support.ep_models import many_muls

MANY = many_muls(3)  # three Muls, with a key each

MANY_FEEDS = {"X": np.linspace(-1, 1, 8, dtype=np.float32)}

#: A process that makes a session over a store; it prints how the reads and writes went, and the outputs as bytes.
PROCESS = """
import json, sys
import ortcache as oc
from ortcache.ep import MulEp, instances
from tests.support.backends import open_runtime
from tests.support.ep_models import many_muls
import numpy as np
rt = open_runtime(log_level="error")  # which nodes are the CPU's is no news
with rt.session_options(intra_op_num_threads=1) as options:
    options.set_ep_cache(oc.DirectoryStore(sys.argv[1]), strict=True)
    options.append_ep(rt.register_ep(MulEp))
    session = rt.session(many_muls(3), options)
output = session.run({"X": np.linspace(-1, 1, 8, dtype=np.float32)})[0]
(ep,) = instances()
print(json.dumps([session.ep_cache_stats().as_dict(), dict(ep.outcomes), output.tobytes().hex(), sys.argv[1:]]))
"""


def test_a_cold_process_stores_and_a_warm_one_finds(rt: Runtime, tmp_path: Path) -> None:
    cold, cold_outcomes, *cold_output = json.loads(child(PROCESS, tmp_path / "store"))
    assert (cold["hits"], cold["misses"], cold["writes"]) == (0, 3, 3)
    assert cold_outcomes == {"miss": 3, "built": 3, "written": 3}
    warm, warm_outcomes, *warm_output = json.loads(child(PROCESS, tmp_path / "store"))
    assert (warm["hits"], warm["misses"], warm["writes"]) == (3, 0, 0)
    assert warm["bytes_read"] == cold["bytes_written"] > 0
    assert warm_outcomes == {"hit": 3}
    with rt.session(MANY, intra_op_num_threads=1) as plain:  # the CPU EP's
        expected = plain.run(MANY_FEEDS)[0].tobytes().hex()
    assert cold_output[0] == warm_output[0] == expected


def test_processes_at_once_over_one_directory_all_end_well(tmp_path: Path) -> None:
    found: list[Any] = []
    threads = [
        threading.Thread(target=lambda: found.append(json.loads(child(PROCESS, tmp_path / "store")))) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 3
    for stats, _, _, _ in found:
        assert stats["hits"] + stats["misses"] == 3
        assert stats["hits"] + stats["writes"] == 3
        assert stats["read_errors"] == stats["write_errors"] == 0
    assert len({output for _, _, output, _ in found}) == 1
    assert len(list(oc.DirectoryStore(tmp_path / "store").keys())) == 3


@pytest.mark.parametrize("kind", ["mapping", "memory", "directory", "functions"])
def test_every_kind_of_cache_is_warm_the_second_time(rt: Runtime, mul: Any, tmp_path: Path, kind: str) -> None:
    recorder = Recorder()
    cache: dict[str, Any] = {
        "mapping": {"cache": {}},
        "memory": {"cache": oc.MemoryStore()},
        "directory": {"cache": oc.DirectoryStore(tmp_path / "store")},
        "functions": {"read": recorder.get, "write": recorder.put},
    }[kind]
    for hits, misses in ((0, 3), (3, 0)):
        with cached_session(rt, mul, model=MANY, strict=True, **cache) as session:
            stats = session.ep_cache_stats()
            assert (stats.hits, stats.misses, stats.writes) == (hits, misses, misses)
            with rt.session(MANY) as plain:
                np.testing.assert_array_equal(session.run(MANY_FEEDS)[0], plain.run(MANY_FEEDS)[0])


def test_what_is_warm_survives_a_new_registration(rt: Runtime) -> None:
    store = oc.MemoryStore()
    for hits in (0, 1):
        with registered(rt, MulEp) as devices, cached_session(rt, devices, store) as session:
            assert session.ep_cache_stats().hits == hits


def test_every_key_is_safe_and_another_model_has_others(rt: Runtime, mul: Any) -> None:
    recorder = Recorder()
    for model in (MODEL, MANY):
        with cached_session(rt, mul, recorder, model):
            pass
    assert len(recorder.values) == 4
    assert [key_problem(key) for _, key in recorder.calls] == [None] * 8


def test_what_is_written_is_what_is_read_and_one_call_is_one_value(rt: Runtime, mul: Any) -> None:
    recorder = Recorder()
    with cached_session(rt, mul, recorder, MANY):
        pass
    first, recorder.calls = dict(recorder.values), []
    with cached_session(rt, mul, recorder, MANY):
        assert outcomes() == {"hit": 3}
    assert sorted(recorder.calls) == sorted(("read", key) for key in first)
    assert recorder.values == first


def test_the_support_of_each_ep_and_of_all_together(rt: Runtime, mul: Any) -> None:
    flags = ctypes.c_uint32(99)
    with cached_session(rt, mul, {}) as session:
        assert session.ep_cache_support() == {NAME: BOTH}
        for name in (NAME.encode(), None):
            rt.api.SessionGetEpCacheDataCallbackSupport(session, name, ctypes.byref(flags))
            assert flags.value == BOTH
        rt.api.SessionGetEpCacheDataCallbackSupport(session, b"CPUExecutionProvider", ctypes.byref(flags))
        assert flags.value == 0


def test_of_two_eps_in_one_session_the_one_that_supports_uses_the_cache(rt: Runtime, mul: Any) -> None:
    recorder = Recorder()
    flags = ctypes.c_uint32()
    with registered(rt, PlainMul) as plain:
        # The first takes every node that it can, which leaves nothing for the second: both are in the session.
        with rt.session_options(intra_op_num_threads=1, ep_cache=recorder) as options:
            options.append_ep(mul)
            options.append_ep(plain)
            session = rt.session(MODEL, options)
        with session:
            assert session.ep_cache_support() == {NAME: BOTH, "PlainMul": oc.CacheSupport.NONE}
            rt.api.SessionGetEpCacheDataCallbackSupport(session, None, ctypes.byref(flags))
            assert flags.value == BOTH
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
    assert recorder.kinds == "rw"


def test_eight_sessions_made_at_once_over_one_store(rt: Runtime, mul: Any) -> None:
    store, go = oc.MemoryStore(), threading.Barrier(8)
    shared = oc.CacheCallbacks(store.get, store.put, strict=True)
    outputs: list[bytes] = []
    problems: list[BaseException] = []

    def work() -> None:
        try:
            go.wait()
            for _ in range(5):
                with cached_session(rt, mul, shared, MANY) as session:
                    outputs.append(session.run(MANY_FEEDS)[0].tobytes())
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert (len(outputs), len(set(outputs))) == (40, 1)
    stats = shared.stats
    assert stats.reads == 8 * 5 * 3
    assert stats.misses == stats.writes >= 3
    assert (stats.read_errors, stats.write_errors, stats.rejected) == (0, 0, 0)


def test_callbacks_run_side_by_side(rt: Runtime, mul: Any) -> None:
    both = threading.Barrier(2, timeout=20)  # broken, if one call waits for the other to end

    def read(key: str) -> None:
        both.wait()

    def work() -> None:
        with cached_session(rt, mul, read=read, strict=True):
            made.append(True)

    made: list[bool] = []
    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [True, True]


def test_runs_of_one_session_on_many_threads_read_and_write(rt: Runtime) -> None:
    recorder = Recorder()
    with registered(rt, LazyEp) as devices, cached_session(rt, devices, recorder) as session:
        threads = [threading.Thread(target=lambda: [session.run(FEEDS) for _ in range(50)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        stats = session.ep_cache_stats()
        assert (stats.reads, stats.writes) == (200, 200)
    assert recorder.values == {"lazy": b"value"}
