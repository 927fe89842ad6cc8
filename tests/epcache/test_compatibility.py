"""EPs and sessions that know nothing of the callbacks, or know one direction; the other mechanism of that kind."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.ep import CacheSupport, Ep, MulEp, vtable
from ortcache.epcache import EpCacheStats
from ortcache.host import attach
from ortcache.runtime import Runtime

from ..support.backends import wanted
from ..support.cache_eps import BOTH, EXPECTED, FEEDS, MODEL, CFunctions, Recorder, cached_session, outcomes
from ..support.ep_classes import PlainMul, make_ep, registered


def flags_of(rt: Runtime, session: Any, name: str | None) -> int:
    flags = ctypes.c_uint32(99)
    rt.api.SessionGetEpCacheDataCallbackSupport(session, name.encode() if name else None, ctypes.byref(flags))
    return flags.value


def test_the_backend_says_which_it_is(rt: Runtime) -> None:
    assert rt.ep_cache_backend == wanted()
    assert (rt.native in attach._hosts) == (wanted() == "host")


def test_a_session_without_eps_of_devices_is_as_ever(rt: Runtime) -> None:
    recorder = Recorder()
    with rt.session(MODEL, intra_op_num_threads=1, ep_cache=recorder) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert session.ep_cache_support() == {}
        assert session.ep_cache_stats() == EpCacheStats()
        assert flags_of(rt, session, None) == 0
    assert recorder.calls == []


def test_an_ep_without_the_member_supports_nothing_and_is_not_bothered(rt: Runtime) -> None:
    recorder = Recorder()
    with registered(rt, PlainMul) as devices, cached_session(rt, devices, recorder) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert session.ep_cache_support() == {"PlainMul": CacheSupport.NONE}
    assert recorder.calls == []


def test_an_ep_that_supports_nothing_reaches_no_function_though_it_tries(rt: Runtime) -> None:
    recorder = Recorder()
    results: list[Any] = []

    def compile(self: Ep, graph: Any, node: Any) -> Any:
        cache = self.context.cache
        results.extend([cache.get("key"), cache.put("key", b"value"), cache.readable, cache.writable])
        return PlainMul.compile(self, graph, node)  # type: ignore[arg-type]

    ep = make_ep(compile=compile)
    with registered(rt, ep) as devices, cached_session(rt, devices, recorder):
        assert results == [None, False, False, False]
    assert recorder.calls == []


@pytest.mark.parametrize("version", [23, 29, 32])
def test_an_ep_too_old_to_have_the_member_is_not_asked(
    rt: Runtime, monkeypatch: pytest.MonkeyPatch, version: int
) -> None:
    monkeypatch.setattr(vtable, "struct_version", lambda native: version)
    ep = make_ep(MulEp, name="OldMul")
    with registered(rt, ep) as devices, cached_session(rt, devices, {}) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        # The library reads the struct, and finds it too old. The host never reads it: an EP in Python tells it.
        assert session.ep_cache_support() == {"OldMul": CacheSupport.NONE if wanted() == "native" else BOTH}


@pytest.mark.parametrize(
    ("support", "calls", "warm"),
    [
        (CacheSupport.READ, "r", {"hit": 1}),
        (CacheSupport.WRITE, "w", {"off": 1, "built": 1, "written": 1}),
        (CacheSupport.NONE, "", {"off": 1, "built": 1}),
    ],
)
def test_an_ep_that_supports_one_direction_uses_that_one(
    rt: Runtime, mul: Any, support: CacheSupport, calls: str, warm: dict[str, int]
) -> None:
    values: dict[str, bytes] = {}
    ep = make_ep(MulEp, cache_support=support)
    with registered(rt, ep) as devices:
        recorder = Recorder()
        with cached_session(rt, devices, recorder) as session:
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
            assert session.ep_cache_support() == {ep.name: support}
            assert flags_of(rt, session, None) == flags_of(rt, session, ep.name) == support
        assert recorder.kinds == calls
        ep.cache_support = BOTH
        with cached_session(rt, devices, values):
            assert len(values) == 1
        ep.cache_support = support
        with cached_session(rt, devices, values):
            assert outcomes(ep) == warm


def test_support_may_depend_on_the_options_of_the_ep(rt: Runtime) -> None:
    def support(self: Any) -> CacheSupport:
        return BOTH if "max_plan_bytes" in self.context.options else CacheSupport.READ

    ep = make_ep(MulEp, cache_support=property(support))
    with registered(rt, ep) as devices:
        for options, wanted_flags in (({"max_plan_bytes": "9999"}, BOTH), ({}, CacheSupport.READ)):
            with cached_session(rt, devices, {}, ep_options=options) as session:
                assert session.ep_cache_support() == {ep.name: wanted_flags}


def test_without_callbacks_an_ep_works_without_a_cache(rt: Runtime, mul: Any) -> None:
    with cached_session(rt, mul) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert outcomes() == {"off": 1, "built": 1}
        assert session.ep_cache_support() == {"MulExecutionProvider": BOTH}


def test_the_support_of_a_session_that_is_closed_cannot_be_asked(rt: Runtime, mul: Any) -> None:
    with cached_session(rt, mul, {}) as session:
        pass
    with pytest.raises(oc.ClosedError):
        session.ep_cache_support()
    assert session.ep_cache_stats().misses == 1  # what went through is still known


# The EPContext callbacks: a mechanism of their own.


def context_function(rt: Runtime, options: Any) -> tuple[int | None, int | None]:
    """The read function for EPContext data that an EP would get, and its state."""
    config = ctypes.POINTER(raw.OrtEpContextConfig)()
    rt.api.SessionOptionsGetEpContextConfig(options, ctypes.byref(config))
    read, state = raw.OrtReadNamedBufferFunc(), ctypes.c_void_p()
    try:
        rt.api.EpContextConfigGetEpContextDataReadFunc(config, ctypes.byref(read), ctypes.byref(state))
    finally:
        rt.api.ReleaseEpContextConfig(config)
    return ctypes.cast(read, ctypes.c_void_p).value, state.value


@pytest.fixture
def options(rt: Runtime) -> Iterator[Any]:
    with rt.session_options(intra_op_num_threads=1) as made:
        yield made


def has_context_functions(rt: Runtime) -> bool:
    """1.31 and later."""
    there = rt.native.api.raw.holds("SessionOptionsSetEpContextDataReadFunc")
    assert there == (rt.native.library_api_version >= 31)
    return bool(there)


def test_the_epcontext_functions_are_left_alone(rt: Runtime, options: Any) -> None:
    if not has_context_functions(rt):
        return
    other = CFunctions(lambda allocator, key: (None, 0))
    rt.api.SessionOptionsSetEpContextDataReadFunc(options, other.read, 77)
    before = context_function(rt, options)
    assert before == (ctypes.cast(other.read, ctypes.c_void_p).value, 77)
    for change in (lambda: options.set_ep_cache({}), lambda: options.set_ep_cache(read=len), options.set_ep_cache):
        change()
        assert context_function(rt, options) == before
    rt.api.SessionOptionsSetEpContextDataReadFunc(options, None, None)
    assert context_function(rt, options) == (None, None)


def test_the_epcontext_functions_do_not_set_the_cache(rt: Runtime, options: Any) -> None:
    if not has_context_functions(rt):
        return
    recorder = Recorder()
    other = CFunctions(lambda allocator, key: (None, 0))
    options.set_ep_cache(recorder)
    rt.api.SessionOptionsSetEpContextDataReadFunc(options, other.read, 77)
    read, write, state = raw.OrtReadNamedBufferFunc(), raw.OrtWriteNamedBufferFunc(), ctypes.c_void_p()
    rt.api.SessionOptionsGetEpCacheDataFuncs(options, ctypes.byref(read), ctypes.byref(write), ctypes.byref(state))
    assert ctypes.cast(read, ctypes.c_void_p).value != ctypes.cast(other.read, ctypes.c_void_p).value
    assert state.value != 77


def test_both_mechanisms_at_once_are_each_as_ever(rt: Runtime, mul: Any, options: Any) -> None:
    if not has_context_functions(rt):
        return
    asked: list[bytes] = []

    def read(allocator: Any, key: bytes) -> tuple[int | None, int]:
        asked.append(key)
        return None, 0

    other, recorder = CFunctions(read), Recorder()
    options.append_ep(mul)
    rt.api.SessionOptionsSetEpContextDataReadFunc(options, other.read, None)
    options.set_ep_cache(recorder, strict=True)
    with rt.session(MODEL, options) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
    assert recorder.kinds == "rw"
    assert asked == []  # the model has no EPContext node


def test_a_library_below_1_23_has_neither_backend(library: Any) -> None:
    if wanted() == "native":
        return  # it is new by definition
    with oc.load(library, api_version=22) as old:
        assert old.ep_cache_backend is None
        with old.session_options() as made, pytest.raises(oc.HostError, match=r"need ONNX Runtime 1\.23 or later"):
            made.set_ep_cache({})
        with contextlib.suppress(oc.OrtError), old.session(MODEL) as session:
            assert session.ep_cache_support() == {}
