"""Whatever a read gives, the session is made, its results are right, and what was no hit is compiled and written."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.ep.mul import FORMAT_VERSION, MAGIC
from ortcache.ep.sealed import seal
from ortcache.runtime import Runtime

from ..support.cache_eps import (
    EXPECTED,
    FEEDS,
    MODEL,
    OVERHEAD,
    CFunctions,
    Recorder,
    cached_session,
    outcomes,
    warnings_of,
)
from ..support.ep_models import many_muls

MANY = many_muls(3)  # three Muls, with a key each

ERRORS = [
    ValueError("what went wrong"),
    OSError(28, "No space left on device"),
    KeyError("gone"),
    TimeoutError("slow"),
    KeyboardInterrupt("stop"),
    SystemExit(3),
    GeneratorExit(),
    MemoryError(),
    RecursionError("deep"),
]


@pytest.fixture
def own(rt: Runtime, mul: Any) -> tuple[str, bytes]:
    """The key of the one Mul, and what belongs there."""
    recorder = Recorder()
    with cached_session(rt, mul, recorder):
        pass
    ((key, value),) = recorder.values.items()
    return key, value


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_a_read_that_raises_is_a_miss(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture, error: BaseException
) -> None:
    def read(key: str) -> bytes:
        raise type(error)(*error.args)  # a new one: an exception keeps its frames, and these the cache

    recorder = Recorder()
    with cached_session(rt, mul, read=read, write=recorder.put) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        stats = session.ep_cache_stats()
        assert outcomes() == {"error": 1, "built": 1, "written": 1}
    assert (stats.hits, stats.misses, stats.read_errors, stats.writes) == (0, 0, 1, 1)
    assert len(recorder.values) == 1
    (warning,) = warnings_of(caplog.records)
    assert type(error).__name__ in warning


@pytest.mark.parametrize("value", ["text", 3, 2.5, [1], object(), True, {"a": 1}], ids=lambda v: type(v).__name__)
def test_a_read_that_gives_no_bytes_is_an_error_and_a_miss(rt: Runtime, mul: Any, value: Any) -> None:
    with cached_session(rt, mul, read=lambda key: value) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert session.ep_cache_stats().read_errors == 1
        assert outcomes() == {"error": 1, "built": 1}


@pytest.mark.parametrize("value", [None, b"", bytearray(), memoryview(b""), np.zeros(0)])
def test_nothing_and_an_empty_value_are_a_miss(rt: Runtime, mul: Any, value: Any) -> None:
    recorder = Recorder()
    with cached_session(rt, mul, read=lambda key: value, write=recorder.put) as session:
        assert session.ep_cache_stats().misses == 1
        assert outcomes() == {"miss": 1, "built": 1, "written": 1}


@pytest.mark.parametrize(
    ("answer", "wanted"),
    [
        ("NULL and no size", "miss"),
        ("NULL and a size", "miss"),
        ("memory and no size", "miss"),
        ("a status", "error"),
        ("huge", "oversize"),
    ],
)
def test_whatever_a_c_function_answers(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture, answer: str, wanted: str
) -> None:
    def read(allocator: Any, key: bytes) -> tuple[int | None, int] | int:
        if answer == "a status":
            status = rt.api.raw.CreateStatus(1, b"C is not well")
            return ctypes.cast(status, ctypes.c_void_p).value or 0
        if answer == "NULL and no size":
            return None, 0
        if answer == "NULL and a size":
            return None, 123
        memory = allocator.contents.Alloc(allocator, 16)
        return (memory, 0) if answer == "memory and no size" else (memory, 1 << 40)

    functions = CFunctions(read, lambda key, value: written.append(value))
    written: list[bytes] = []
    with rt.session_options(intra_op_num_threads=1) as options:
        functions.set_on(options, 1234)
        options.append_ep(mul)
        session = rt.session(MODEL, options)
    with session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert outcomes() == {wanted: 1, "built": 1, "written": 1}
    assert functions.states == [1234, 1234]
    assert len(written) == 1
    assert ("C is not well" in "".join(warnings_of(caplog.records))) == (answer == "a status")


def test_a_value_above_the_providers_limit_is_a_miss(
    rt: Runtime, mul: Any, own: tuple[str, bytes], caplog: pytest.LogCaptureFixture
) -> None:
    key, value = own
    for limit, wanted in ((len(value), {"hit": 1}), (len(value) - 1, {"oversize": 1, "built": 1, "write_failed": 1})):
        with cached_session(rt, mul, {key: value}, ep_options={"max_plan_bytes": str(limit)}) as session:
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
            assert outcomes() == wanted
    assert any("too large" in warning for warning in warnings_of(caplog.records))


def test_a_value_above_the_limit_that_was_set_passes_neither_way(rt: Runtime, mul: Any, own: tuple[str, bytes]) -> None:
    key, value = own
    with cached_session(rt, mul, {key: value}, max_size=len(value)) as session:
        assert session.ep_cache_stats().hits == 1
    store = {key: value}
    with cached_session(rt, mul, store, max_size=len(value) - 1) as session:
        stats = session.ep_cache_stats()
        assert outcomes() == {"error": 1, "built": 1, "write_failed": 1}
        assert (stats.read_errors, stats.write_errors, stats.bytes_read, stats.bytes_written) == (1, 1, 0, 0)
    assert store == {key: value}


def _rewritten(rt: Runtime, mul: Any, own: tuple[str, bytes], damaged: bytes, *reasons: str) -> None:
    """The value is refused for one of the reasons, and its own is written in its place."""
    key, value = own
    store = {key: damaged}
    with cached_session(rt, mul, store) as session:
        found = outcomes()
        reason = next(iter(set(found) - {"built", "written"}))
        assert reason in reasons
        assert found == {reason: 1, "built": 1, "written": 1}
        assert session.run(FEEDS)[0].tobytes() == EXPECTED.tobytes()
    assert store == {key: value}


def test_one_that_is_cut_is_rewritten_whatever_its_length(rt: Runtime, mul: Any, own: tuple[str, bytes]) -> None:
    _, value = own
    for length in range(1, len(value)):
        _rewritten(rt, mul, own, value[:length], "rejected_size")
    _rewritten(rt, mul, own, b"", "miss")


def test_one_with_a_flipped_bit_is_rewritten_wherever_it_is(rt: Runtime, mul: Any, own: tuple[str, bytes]) -> None:
    _, value = own
    for place in range(len(value)):
        damaged = bytearray(value)
        damaged[place] ^= 1 << place % 8
        reasons = "rejected_magic", "rejected_version", "rejected_size", "rejected_digest"
        _rewritten(rt, mul, own, bytes(damaged), *reasons)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda value: value + b"\0", "rejected_size"),
        (lambda value: value + value, "rejected_size"),
        (lambda value: bytes(len(value)), "rejected_magic"),
        (lambda value: b"x", "rejected_magic"),
        (lambda value: b"OTHEREP!" + value[8:], "rejected_magic"),
        (lambda value: seal(b"OTHEREP!", 1, bytes(32), b"its payload"), "rejected_magic"),
        (lambda value: seal(MAGIC, FORMAT_VERSION + 1, bytes(32), b"newer"), "rejected_version"),
        (lambda value: seal(MAGIC, FORMAT_VERSION, bytes(32), value[52:-32]), "rejected_fingerprint"),
        (lambda value: seal(MAGIC, FORMAT_VERSION, value[12:44], b"no plan"), "rejected_payload"),
        (lambda value: seal(MAGIC, FORMAT_VERSION, value[12:44], b""), "rejected_payload"),
    ],
    ids=["longer", "twice", "zeros", "one byte", "other magic", "another EP's", "newer", "another model's",
         "whole but no plan", "whole but empty"],
)  # fmt: skip
def test_one_that_is_not_its_own_is_rewritten(
    rt: Runtime, mul: Any, own: tuple[str, bytes], damage: Callable[[bytes], bytes], reason: str
) -> None:
    assert OVERHEAD == 84
    _rewritten(rt, mul, own, damage(own[1]), reason)


def test_the_plan_of_another_node_under_its_key_is_rewritten(rt: Runtime, mul: Any) -> None:
    recorder = Recorder()
    with cached_session(rt, mul, recorder, MANY):
        pass
    values, (first, second, third) = dict(recorder.values), list(recorder.values)
    recorder.values |= {first: values[second], second: values[first]}
    with cached_session(rt, mul, recorder, MANY):
        assert outcomes() == {"rejected_fingerprint": 2, "built": 2, "written": 2, "hit": 1}
    assert recorder.values == values
    assert third in values


def test_a_read_that_fails_for_one_key_leaves_the_others_alone(rt: Runtime, mul: Any) -> None:
    recorder = Recorder()
    with cached_session(rt, mul, recorder, MANY):
        pass
    bad = next(iter(recorder.values))

    def read(key: str) -> bytes | None:
        if key == bad:
            raise OSError("this one only")
        return recorder.values[key]

    with cached_session(rt, mul, read=read, model=MANY) as session:
        stats = session.ep_cache_stats()
        assert outcomes() == {"error": 1, "hit": 2, "built": 1}
    assert (stats.hits, stats.read_errors) == (2, 1)


def test_an_unsafe_key_never_reaches_the_functions(rt: Runtime) -> None:
    recorder = Recorder()
    cache = oc.CacheCallbacks(recorder.get, recorder.put)
    for key in ("", ".", "..", "../x", "a/b", "a\\b", ".hidden", "con", "NUL.txt", "x" * 201, "a:b", "ä", "a b", "a\0"):
        with pytest.raises(oc.InputError, match="is not safe"):
            cache.read(key)
        with pytest.raises(oc.InputError, match="is not safe"):
            cache.write(key, memoryview(b"x"))
    assert recorder.calls == []
    assert (cache.stats.read_errors, cache.stats.write_errors) == (14, 14)
