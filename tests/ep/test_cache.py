"""An execution provider's side of the callbacks: every answer that they may give, and that nothing breaks a session."""

from __future__ import annotations

import contextlib
import gc
import logging
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from ortcache.ep import CacheCounters, CacheSupport, Ep, EpCache, Outcome, instances
from ortcache.runtime import Runtime

from ..support.ep_classes import PlainMul, ep_session, make_ep, registered
from ..support.ep_functions import Memory, function_session, status
from ..support.ep_memory import resident
from ..support.ep_models import squares_model

MODEL = squares_model()
BOTH = CacheSupport.READ | CacheSupport.WRITE


@contextlib.contextmanager
def cache_of(
    rt: Runtime, memory: Memory, support: int = BOTH, *, read: bool = True, write: bool = True, **members: Any
) -> Iterator[EpCache]:
    """The cache of a provider in a session with these functions."""
    ep = make_ep(cache_support=support, **members)
    functions = memory.read if read else None, memory.write if write else None, 0x1234
    with registered(rt, ep) as devices, function_session(rt, devices, MODEL, *functions):
        yield instances(ep)[0].context.cache


@pytest.fixture
def memory(rt: Runtime) -> Memory:
    return Memory(rt.native)


def test_a_value_goes_and_comes(rt: Runtime, memory: Memory) -> None:
    with cache_of(rt, memory) as cache:
        assert cache.readable and cache.writable
        assert cache.get("key") is None
        assert cache.put("key", b"a\0value") is True
        assert cache.get("key") == b"a\0value"
        assert cache.look("key").outcome is Outcome.HIT and cache.look("other").outcome is Outcome.MISS
        assert cache.counters == CacheCounters(hits=2, misses=2, writes=1, bytes_read=14, bytes_written=7)
    assert memory.calls[:3] == [("read", "key", 0x1234), ("write", "key", 0x1234), ("read", "key", 0x1234)]


@pytest.mark.parametrize("write", [True, False])
@pytest.mark.parametrize("read", [True, False])
@pytest.mark.parametrize("support", list(range(4)))
def test_only_what_both_sides_do_is_done(rt: Runtime, memory: Memory, support: int, read: bool, write: bool) -> None:
    memory.values["key"] = b"old"
    reads, writes = read and bool(support & 1), write and bool(support & 2)
    with cache_of(rt, memory, support, read=read, write=write) as cache:
        assert (cache.readable, cache.writable) == (reads, writes)
        assert cache.get("key") == (b"old" if reads else None)
        assert cache.put("key", b"new") is writes
        if not reads:
            assert cache.look("key").outcome is Outcome.OFF
        assert cache.counters == CacheCounters(
            hits=int(reads), writes=int(writes), bytes_read=3 * reads, bytes_written=3 * writes
        )
    assert [call[0] for call in memory.calls] == ["read"] * reads + ["write"] * writes


def test_without_functions_nothing_is_read_or_written(rt: Runtime) -> None:
    ep = make_ep(cache_support=BOTH)
    with ep_session(rt, ep, MODEL):
        cache = instances(ep)[0].context.cache
        assert (cache.readable, cache.writable, cache.get("key"), cache.put("key", b"x")) == (False, False, None, False)
        assert cache.counters == CacheCounters()


ANSWERS: dict[str, tuple[Callable[[Memory, Any], Any], Outcome, str]] = {
    "an error": (lambda m, a: (status(m.native), None, 0), Outcome.ERROR, "reading 'key' failed.*it failed"),
    "an error with a buffer": (lambda m, a: (status(m.native), 1, 5), Outcome.ERROR, "it failed"),
    "nothing": (lambda m, a: (None, None, 0), Outcome.MISS, ""),
    "nothing of some size": (lambda m, a: (None, None, 100), Outcome.MISS, ""),
    "no bytes": (lambda m, a: (None, m.allocate(a, b""), 0), Outcome.MISS, ""),
    "too many bytes": (lambda m, a: (None, m.allocate(a, b"x" * 9), 9), Outcome.OVERSIZE, "9 bytes, and the limit"),
    "a size that lies": (lambda m, a: (None, m.allocate(a, b"x"), 2**63), Outcome.OVERSIZE, "too large"),
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_that_is_no_value_is_a_miss(
    rt: Runtime, memory: Memory, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    answer, outcome, said = ANSWERS[name]
    memory.answer = lambda key, allocator: answer(memory, allocator)
    with cache_of(rt, memory, cache_read_limit=8) as cache:
        assert cache.get("key") is None
        found = cache.look("key")
        assert (found.outcome, found.data) == (outcome, None)
        counters = {name: count for name, count in cache.counters.as_dict().items() if count}
        count = {Outcome.ERROR: "errors", Outcome.MISS: "misses", Outcome.OVERSIZE: "oversize"}[outcome]
        assert counters == {count: 2}
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == (2 if said else 0)
    for warning in warnings:
        assert re.match(f"EP cache: .*{said}", warning)


def test_a_value_of_exactly_the_limit_passes(rt: Runtime, memory: Memory) -> None:
    with cache_of(rt, memory, cache_read_limit=8, cache_write_limit=8) as cache:
        assert cache.put("key", b"12345678") and cache.get("key") == b"12345678"
        assert not cache.put("key", b"123456789")
        assert cache.counters.write_failures == 1
    assert memory.values == {"key": b"12345678"}


def test_what_is_read_is_given_back_to_the_allocator(rt: Runtime, memory: Memory) -> None:
    memory.values["key"] = b"x" * (4 << 20)
    with cache_of(rt, memory, cache_read_limit=8 << 20) as cache:
        for limit in (8 << 20, 1 << 20):  # hits, and values that are too large
            instances()[0].cache_read_limit = limit
            before = 0
            for number in range(60):
                before = before or (number == 10 and resident())
                cache.get("key")
            assert resident() - before < 40 << 20  # of 200


@pytest.mark.parametrize("error", [None, "the disk is full"])
def test_a_failing_write_is_a_warning_a_few_times(
    rt: Runtime, memory: Memory, caplog: pytest.LogCaptureFixture, error: str | None
) -> None:
    memory.refuse = lambda key, data: status(memory.native, error or "no")
    with cache_of(rt, memory) as cache:
        assert [cache.put(f"key-{i}", b"value") for i in range(20)] == [False] * 20
        assert cache.counters == CacheCounters(write_failures=20)
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 6
    assert warnings[0].startswith("EP cache: writing 'key-0' failed: ") and (error or "no") in warnings[0]
    assert warnings[5] == "EP cache: further warnings of this session are left out"


@pytest.mark.parametrize("key", ["", "../x", "a/b", ".x", "con", "x" * 201, "x" * 100_000, "ä", "a\0", None, 3, b"key"])
def test_an_unsafe_key_is_refused_and_nobody_is_asked(
    rt: Runtime, memory: Memory, caplog: pytest.LogCaptureFixture, key: Any
) -> None:
    with cache_of(rt, memory) as cache:
        assert cache.get(key) is None and cache.look(key).outcome is Outcome.REFUSED
        assert cache.put(key, b"value") is False
        assert cache.counters == CacheCounters(refused=3)
    assert memory.calls == []
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(warnings) == 3 and all("is not safe as a file name" in text and len(text) < 500 for text in warnings)


@pytest.mark.parametrize(
    ("data", "stored"),
    [
        (b"bytes", b"bytes"),
        (bytearray(b"bytes"), b"bytes"),
        (memoryview(b"bytes"), b"bytes"),
        (memoryview(b"b.y.t.e.s.")[::2], b"bytes"),
        (np.arange(3, dtype=np.uint16), b"\0\0\1\0\2\0"),
        (np.arange(4, dtype=np.uint8).reshape(2, 2).T, b"\0\2\1\3"),
    ],
)
def test_anything_with_a_buffer_is_written_whole(rt: Runtime, memory: Memory, data: Any, stored: bytes) -> None:
    with cache_of(rt, memory) as cache:
        assert cache.put("key", data) is True
        assert cache.counters.bytes_written == len(stored)
    assert memory.values == {"key": stored}


@pytest.mark.parametrize("data", [b"", None, "text", 3, [1], object()])
def test_what_is_no_value_is_not_written(rt: Runtime, memory: Memory, data: Any) -> None:
    with cache_of(rt, memory) as cache:
        assert cache.put("key", data) is False
        assert cache.counters == CacheCounters(write_failures=1)
    assert memory.calls == []


def test_a_large_value_goes_both_ways(rt: Runtime, memory: Memory) -> None:
    data = np.random.default_rng(0).bytes(32 << 20)
    with cache_of(rt, memory) as cache:
        assert cache.put("key", data) and cache.get("key") == data


def test_after_the_session_the_functions_are_not_called(rt: Runtime, memory: Memory) -> None:
    with cache_of(rt, memory) as cache:
        pass
    assert (cache.get("key"), cache.put("key", b"x"), cache.readable, cache.writable) == (None, False, False, False)
    assert memory.calls == []


def test_rejected_values_are_counted_on_top(rt: Runtime, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
    memory.values["key"] = b"somebody else's"
    with cache_of(rt, memory) as cache:
        cache.get("key")
        cache.reject("key", "it is not mine")
        assert (cache.counters.hits, cache.counters.rejected) == (1, 1)
    assert "EP cache: the value of 'key' is not used: it is not mine" in caplog.text


def test_a_provider_reads_while_it_is_made(rt: Runtime, memory: Memory) -> None:
    memory.values["key"] = b"value"
    seen: list[Any] = []

    def init(self: Any, context: Any) -> None:
        seen.append(context.cache.get("key"))  # before Ep knows whose cache it is
        PlainMul.__init__(self, context)
        seen.append(context.cache.get("key"))

    with cache_of(rt, memory, __init__=init):
        assert seen == [None, b"value"]


def test_a_property_decides_by_the_options(rt: Runtime, memory: Memory) -> None:
    support = property(lambda self: CacheSupport.READ if "read" in self.context.options else CacheSupport.NONE)
    ep = make_ep(cache_support=support)
    with registered(rt, ep) as devices:
        for options, expected in (({"read": "1"}, CacheSupport.READ), ({}, CacheSupport.NONE)):
            with ep_session(rt, devices, MODEL, options, ep_cache={"key": b"value"}) as session:
                assert session.ep_cache_support() == {ep.name: expected}
                assert instances(ep)[0].context.cache.readable is bool(expected)


def test_functions_live_as_long_as_a_session_uses_them(rt: Runtime) -> None:
    ep: type[Ep] = make_ep(cache_support=BOTH)
    values: dict[str, bytes] = {}
    with registered(rt, ep) as devices:
        options = rt.session_options(ep_cache=values)
        options.append_ep(devices)
        session = rt.session(MODEL, options)
        options.close()
        del options
        gc.collect()
        cache = instances(ep)[0].context.cache
        assert cache.put("key", b"value") and cache.get("key") == b"value" and values == {"key": b"value"}
        session.close()


def test_functions_that_are_gone_leave_a_session_without(rt: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    ep = make_ep(cache_support=BOTH)
    with ep_session(rt, ep, MODEL, config={"ep_cache.ortcache.999999999": "1"}):
        cache = instances(ep)[0].context.cache
        assert (cache.readable, cache.get("key"), cache.put("key", b"x")) == (False, None, False)
    assert "EP cache: the functions that were set cannot be used: " in caplog.text


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_what_an_application_raises_is_a_miss(rt: Runtime, error: type[BaseException]) -> None:
    def fail(*_args: Any) -> Any:
        raise error("no")

    ep = make_ep(cache_support=BOTH)
    with registered(rt, ep) as devices, rt.session_options() as options:
        options.set_ep_cache(read=fail, write=fail)
        with ep_session(rt, devices, MODEL, ep_cache=options.ep_cache):
            cache = instances(ep)[0].context.cache
            assert cache.get("key") is None and cache.put("key", b"x") is False
            assert cache.counters == CacheCounters(errors=1, write_failures=1)
