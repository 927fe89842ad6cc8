"""Setting the callbacks: what counts for which session, and what is refused."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.epcache import EpCacheStats
from ortcache.runtime import Runtime

from ..support.cache_eps import BOTH, FEEDS, MODEL, NAME, CFunctions, LazyEp, Recorder, cached_session
from ..support.ep_classes import registered

Tuple = tuple[bool, bool, int | None]


@pytest.fixture
def options(rt: Runtime) -> Iterator[Any]:
    with rt.session_options(intra_op_num_threads=1) as made:
        yield made


def tuple_of(options: Any) -> Tuple:
    """What an EP gets."""
    read, write, state = raw.OrtReadNamedBufferFunc(), raw.OrtWriteNamedBufferFunc(), ctypes.c_void_p(99)
    get = options.native.api.SessionOptionsGetEpCacheDataFuncs
    get(options, ctypes.byref(read), ctypes.byref(write), ctypes.byref(state))
    return bool(read), bool(write), state.value


def functions(options: Any) -> Tuple:
    read, write, state = tuple_of(options)
    return read, write, state is not None


def test_an_ep_gets_nulls_where_nothing_was_set(options: Any) -> None:
    assert options.ep_cache is None
    assert tuple_of(options) == (False, False, None)


def test_an_ep_gets_the_very_functions_and_the_state(rt: Runtime, options: Any) -> None:
    made = CFunctions(lambda allocator, key: (None, 0), lambda key, value: None)
    made.set_on(options, 0xDEADBEEF)
    read, write, state = raw.OrtReadNamedBufferFunc(), raw.OrtWriteNamedBufferFunc(), ctypes.c_void_p()
    rt.api.SessionOptionsGetEpCacheDataFuncs(options, ctypes.byref(read), ctypes.byref(write), ctypes.byref(state))
    addresses = [ctypes.cast(f, ctypes.c_void_p).value for f in (read, write, made.read, made.write)]
    assert addresses[:2] == addresses[2:]
    assert state.value == 0xDEADBEEF


def test_null_options_are_an_invalid_argument(rt: Runtime) -> None:
    outs = raw.OrtReadNamedBufferFunc(), raw.OrtWriteNamedBufferFunc(), ctypes.c_void_p()
    for call in (
        lambda: rt.api.SessionOptionsSetEpCacheDataFuncs(None, None, None, None),
        lambda: rt.api.SessionOptionsGetEpCacheDataFuncs(None, *map(ctypes.byref, outs)),
        lambda: rt.api.SessionGetEpCacheDataCallbackSupport(None, None, ctypes.byref(ctypes.c_uint32())),
    ):
        with pytest.raises(oc.OrtError) as caught:
            call()
        assert caught.value.code == raw.OrtErrorCode.ORT_INVALID_ARGUMENT


def test_each_call_replaces_the_whole_tuple(options: Any) -> None:
    options.set_ep_cache({})
    assert functions(options) == (True, True, True)
    first = tuple_of(options)[2]
    options.set_ep_cache(read=lambda key: None)
    assert functions(options) == (True, False, True)
    assert tuple_of(options)[2] != first
    options.set_ep_cache(write=lambda key, value: None)
    assert functions(options) == (False, True, True)
    options.set_ep_cache()
    assert functions(options) == (False, False, False)
    assert options.ep_cache is None


def test_the_property_and_the_keyword_are_the_same_as_the_method(rt: Runtime, options: Any) -> None:
    options.ep_cache = {}
    assert functions(options) == (True, True, True)
    options.ep_cache = None
    assert functions(options) == (False, False, False)
    with rt.session_options(ep_cache={}) as others:
        assert functions(others) == (True, True, True)


@pytest.mark.parametrize(
    ("directions", "calls"), [(("read", "write"), "rw"), (("read",), "r"), (("write",), "w"), ((), "")]
)
def test_only_the_directions_that_are_set_are_used(rt: Runtime, mul: Any, directions: Any, calls: str) -> None:
    recorder = Recorder()
    chosen = {"read": recorder.get, "write": recorder.put}
    with cached_session(rt, mul, **{name: chosen[name] for name in directions}) as session:
        session.run(FEEDS)
        stats = session.ep_cache_stats()
    assert recorder.kinds == calls
    assert (stats.reads, stats.writes) == (calls.count("r"), calls.count("w"))


def test_what_is_cleared_before_a_session_is_not_called(rt: Runtime, mul: Any, options: Any) -> None:
    recorder = Recorder()
    options.set_ep_cache(recorder)
    options.set_ep_cache()
    options.append_ep(mul)
    with rt.session(MODEL, options) as session:
        session.run(FEEDS)
        assert session.ep_cache_stats() == EpCacheStats()
    assert recorder.calls == []


def test_what_is_replaced_before_a_session_is_not_called(rt: Runtime, mul: Any, options: Any) -> None:
    first, second = Recorder(), Recorder()
    options.set_ep_cache(first)
    options.set_ep_cache(second)
    options.append_ep(mul)
    rt.session(MODEL, options).close()
    assert (first.kinds, second.kinds) == ("", "rw")


@pytest.mark.parametrize("later", ["replace", "clear", "close", "one direction"])
def test_a_session_keeps_what_it_was_made_with(rt: Runtime, options: Any, later: str) -> None:
    first, second = Recorder(), Recorder()
    with registered(rt, LazyEp) as devices:
        options.set_ep_cache(first)
        options.append_ep(devices)
        with rt.session(MODEL, options) as session:
            if later == "replace":
                options.set_ep_cache(second)
            elif later == "clear":
                options.set_ep_cache()
            elif later == "one direction":
                options.set_ep_cache(read=second.get)
            else:
                options.close()
            session.run(FEEDS)
            assert (first.kinds, second.kinds) == ("rw", "")
            assert session.ep_cache_stats().writes == 1
            if later != "close":
                with rt.session(MODEL, options) as new:
                    new.run(FEEDS)
                assert second.kinds == {"replace": "rw", "clear": "", "one direction": "r"}[later]


def test_what_is_set_after_a_session_is_not_seen_by_it(rt: Runtime, options: Any) -> None:
    recorder = Recorder()
    with registered(rt, LazyEp) as devices:
        options.append_ep(devices)
        with rt.session(MODEL, options) as session:
            options.set_ep_cache(recorder)
            session.run(FEEDS)
            assert session.ep_cache_stats() == EpCacheStats()
    assert recorder.calls == []


def test_a_clone_inherits_and_neither_sees_the_others_change(rt: Runtime, mul: Any, options: Any) -> None:
    first, second, third = Recorder(), Recorder(), Recorder()
    options.append_ep(mul)
    options.set_ep_cache(first)
    with options.clone() as clone, clone.clone() as third_one:
        assert clone.ep_cache is options.ep_cache
        options.set_ep_cache(second)
        third_one.set_ep_cache(third)
        for made, called in ((clone, first), (options, second), (third_one, third)):
            rt.session(MODEL, made).close()
            assert called.kinds == "rw"
    assert [r.kinds for r in (first, second, third)] == ["rw"] * 3


def test_a_clone_outlives_what_it_was_made_from(rt: Runtime, mul: Any) -> None:
    recorder = Recorder()
    with rt.session_options(ep_cache=recorder) as first:
        clone = first.clone()
    with clone:
        clone.append_ep(mul)
        rt.session(MODEL, clone).close()
    assert recorder.kinds == "rw"


def test_two_options_may_share_one_cache_and_its_counts(rt: Runtime, mul: Any) -> None:
    values: dict[str, bytes] = {}
    shared = oc.CacheCallbacks(values.get, lambda key, value: values.update({key: bytes(value)}))
    for hits in (0, 1):
        with cached_session(rt, mul, shared) as session:
            assert session.ep_cache_stats().hits == hits
    assert (shared.stats.misses, shared.stats.hits, shared.stats.writes) == (1, 1, 1)


@pytest.mark.parametrize("cache", [3, b"bytes", [1], object(), (1, 2), type("HalfStore", (), {"get": len})()])
def test_what_is_no_cache_is_refused_and_changes_nothing(options: Any, cache: Any) -> None:
    options.set_ep_cache({})
    before = tuple_of(options)
    with pytest.raises(TypeError, match=f"not {type(cache).__name__}"):
        options.set_ep_cache(cache)
    assert tuple_of(options) == before


def test_a_cache_and_functions_together_are_refused(options: Any) -> None:
    with pytest.raises(TypeError, match="not both"):
        options.set_ep_cache({}, read=lambda key: None)


@pytest.mark.parametrize("name", ["read", "write"])
def test_what_is_no_function_is_refused(options: Any, name: str) -> None:
    with pytest.raises(TypeError, match=f"{name} must be a function, not int"):
        options.set_ep_cache(**{name: 3})


@pytest.mark.parametrize("size", ["big", 0, -1, True, 1.5, b"1"])
def test_a_limit_that_is_no_size_is_refused_and_changes_nothing(options: Any, size: Any) -> None:
    options.set_ep_cache({})
    before = tuple_of(options)
    with pytest.raises(oc.InputError, match="size"):
        options.set_ep_cache({}, max_size=size)
    assert tuple_of(options) == before


def test_a_limit_is_a_size_as_a_store_takes_it(options: Any) -> None:
    options.set_ep_cache({"key": b"x" * 2048, "long": b"x" * 2049}, max_size="2K")
    assert options.ep_cache.max_size == 2048
    assert options.ep_cache.read("key") == b"x" * 2048
    with pytest.raises(oc.InputError, match="at most 2048"):
        options.ep_cache.read("long")


@pytest.mark.parametrize("value", ["text", 3, [1], object()])
def test_a_read_function_that_gives_no_bytes_is_told_so(value: Any) -> None:
    cache = oc.CacheCallbacks(lambda key: value, None)
    with pytest.raises(TypeError, match=f"must give bytes or None, not {type(value).__name__}"):
        cache.read("key")
    assert cache.stats.read_errors == 1


def test_closed_options_refuse(options: Any) -> None:
    options.close()
    with pytest.raises(oc.ClosedError):
        options.set_ep_cache({})


@pytest.mark.parametrize(("value", "calls"), [("1", ""), ("yes", ""), ("0", "rw"), ("", "rw")])
def test_the_kill_switch(rt: Runtime, mul: Any, monkeypatch: pytest.MonkeyPatch, value: str, calls: str) -> None:
    monkeypatch.setenv("ORTCACHE_DISABLE", value)
    recorder = Recorder()
    with cached_session(rt, mul, recorder, strict=True) as session:
        session.run(FEEDS)
        assert session.ep_cache_stats().reads == len(calls) / 2
        assert session.ep_cache_support() == {NAME: BOTH}  # what the provider could do
    assert recorder.kinds == calls
