"""A write that fails is a warning, a bounded number of them a session, and never a session failure."""

from __future__ import annotations

import ctypes
import logging
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.runtime import Runtime

from ..support.cache_eps import (
    BOTH,
    EXPECTED,
    FEEDS,
    MODEL,
    CFunctions,
    LazyEp,
    Recorder,
    cached_session,
    outcomes,
    warnings_of,
)
from ..support.ep_classes import registered
from ..support.ep_models import many_muls

MANY = many_muls(3)  # three Muls, with a key each

ERRORS: list[type[BaseException]] = [OSError, ValueError, KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError]
_WARNINGS = 6  # five, and the word that there will be no more


@pytest.mark.parametrize("kind", ERRORS)
def test_a_write_that_raises_is_a_warning(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture, kind: type[BaseException]
) -> None:
    def write(key: str, value: memoryview) -> None:
        raise kind("no room")

    with cached_session(rt, mul, write=write) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        stats = session.ep_cache_stats()
        assert outcomes() == {"off": 1, "built": 1, "write_failed": 1}
    assert (stats.writes, stats.write_errors, stats.bytes_written) == (0, 1, 0)
    (warning,) = warnings_of(caplog.records)
    assert f"{kind.__name__}: no room" in warning


def test_a_status_of_a_c_function_is_a_warning_and_is_released(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture
) -> None:
    def write(key: bytes, value: bytes) -> int | None:
        return ctypes.cast(rt.api.raw.CreateStatus(1, b"C has no room"), ctypes.c_void_p).value

    functions = CFunctions(write=write)
    with rt.session_options(intra_op_num_threads=1) as options:
        functions.set_on(options)
        options.append_ep(mul)
        session = rt.session(MODEL, options)
    with session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert outcomes() == {"off": 1, "built": 1, "write_failed": 1}
    assert "C has no room" in "".join(warnings_of(caplog.records))


def test_writes_that_fail_on_every_call_are_all_tried_and_a_few_are_told(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture
) -> None:
    model = many_muls(20)
    for session_number in (1, 2):  # each has its own few
        recorder = Recorder(fails=OSError(28, "No space left on device"))
        with cached_session(rt, mul, write=recorder.put, model=model) as session:
            assert session.ep_cache_stats().write_errors == 20
            assert outcomes() == {"off": 20, "built": 20, "write_failed": 20}
        recorder.fails = None
        assert len(recorder.calls) == 20
        assert len(warnings_of(caplog.records)) == _WARNINGS * session_number
    # Here, each cache tells a few of its own, too.
    assert sum(r.name == "ortcache.epcache" and r.levelno == logging.WARNING for r in caplog.records) == 10


def test_a_session_warns_of_failing_runs_a_bounded_number_of_times(
    rt: Runtime, caplog: pytest.LogCaptureFixture
) -> None:
    recorder = Recorder(fails=OSError("dead"))
    with registered(rt, LazyEp) as devices, cached_session(rt, devices, recorder) as session:
        for _ in range(30):
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        stats = session.ep_cache_stats()
        assert (stats.read_errors, stats.write_errors) == (30, 30)
    recorder.fails = None
    assert len(warnings_of(caplog.records)) == _WARNINGS


def test_a_write_that_fails_for_one_key_leaves_the_others_alone(rt: Runtime, mul: Any) -> None:
    values: dict[str, bytes] = {}
    refused: list[str] = []

    def write(key: str, value: memoryview) -> None:
        if not refused:
            refused.append(key)
            raise OSError("this one only")
        values[key] = bytes(value)

    with cached_session(rt, mul, write=write, model=MANY) as session:
        stats = session.ep_cache_stats()
        assert (stats.writes, stats.write_errors) == (2, 1)
    assert len(values) == 2
    with cached_session(rt, mul, values, MANY) as session:  # and the one that is missing is made up for
        assert (session.ep_cache_stats().hits, session.ep_cache_stats().writes) == (2, 1)
    assert refused[0] in values


@pytest.mark.parametrize("kept", ["view", "slice", "array"])
def test_a_write_that_keeps_the_value_cannot_reach_its_memory_later(rt: Runtime, mul: Any, kept: str) -> None:
    found: list[Any] = []

    def write(key: str, value: memoryview) -> None:
        found.append({"view": value, "slice": value[1:], "array": np.frombuffer(value, np.uint8)}[kept])

    with cached_session(rt, mul, write=write) as session:
        assert session.ep_cache_stats().write_errors + session.ep_cache_stats().writes == 1
        assert outcomes()["written" if kept == "view" else "write_failed"] == 1
    if kept != "array":
        with pytest.raises(ValueError, match="released"):
            bytes(found[0])
    found.clear()


def test_the_value_is_read_only(rt: Runtime, mul: Any) -> None:
    def write(key: str, value: memoryview) -> None:
        value[0] = 0

    with cached_session(rt, mul, write=write):
        assert outcomes()["write_failed"] == 1


class DeadStore:
    """Every method fails."""

    def get(self, key: str) -> bytes | None:
        raise ConnectionError("nobody answers")

    put = delete = keys = get


def test_a_dead_store_changes_nothing_but_the_time(rt: Runtime, mul: Any) -> None:
    with cached_session(rt, mul, DeadStore(), MANY) as session, rt.session(MANY) as plain:
        feeds = {"X": np.linspace(-1, 1, 8, dtype=np.float32)}
        np.testing.assert_array_equal(session.run(feeds)[0], plain.run(feeds)[0])
        stats = session.ep_cache_stats()
        assert (stats.read_errors, stats.write_errors) == (3, 3)
        assert session.ep_cache_support() == {"MulExecutionProvider": BOTH}


def test_a_session_that_fails_for_another_reason_says_that_one(rt: Runtime, mul: Any) -> None:
    with pytest.raises(oc.OrtError, match="protobuf"):
        with cached_session(rt, mul, DeadStore(), MODEL[:-20]):
            pass
