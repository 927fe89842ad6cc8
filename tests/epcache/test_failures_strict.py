"""Strict mode: what could not be honoured, or failed, is raised from the making of the session that it belongs to."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.ep import CacheSupport, MulEp
from ortcache.runtime import Runtime

from ..support.cache_eps import EXPECTED, FEEDS, MODEL, NAME, LazyEp, Recorder, cached_session
from ..support.ep_classes import PlainMul, make_ep, registered


def nothing(key: str) -> None:
    """A read."""


def ignore(key: str, value: memoryview) -> None:
    """A write."""


def test_an_ep_that_can_is_accepted(rt: Runtime, mul: Any) -> None:
    for how in ({"cache": {}}, {"read": nothing}, {"write": ignore}):
        with cached_session(rt, mul, strict=True, **how) as session:
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)


@pytest.mark.parametrize(
    ("support", "how", "said"),
    [
        (CacheSupport.READ, {"cache": {}}, "{} does not write through callbacks"),
        (CacheSupport.WRITE, {"cache": {}}, "{} does not read through callbacks"),
        (CacheSupport.NONE, {"cache": {}}, "{} does not read or write through callbacks"),
        (CacheSupport.READ, {"write": ignore}, "{} does not write through callbacks"),
        (CacheSupport.WRITE, {"read": nothing}, "{} does not read through callbacks"),
        (CacheSupport.READ, {"read": nothing}, None),
        (CacheSupport.WRITE, {"write": ignore}, None),
    ],
)
def test_an_ep_that_cannot_is_refused_by_name(
    rt: Runtime, support: CacheSupport, how: dict[str, Any], said: str | None
) -> None:
    ep = make_ep(MulEp, cache_support=support)
    with registered(rt, ep) as devices:
        if said is None:
            with cached_session(rt, devices, strict=True, **how):
                return
        with pytest.raises(oc.EpCacheError, match=said.format(ep.name)):
            with cached_session(rt, devices, strict=True, **how):
                pass
        with cached_session(rt, devices, **how) as session:  # without strict it runs
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)


def test_of_two_eps_the_one_that_cannot_is_named(rt: Runtime, mul: Any) -> None:
    with registered(rt, PlainMul) as plain, rt.session_options(intra_op_num_threads=1) as options:
        options.set_ep_cache({}, strict=True)
        options.append_ep(mul)
        options.append_ep(plain)
        with pytest.raises(oc.EpCacheError, match="PlainMul does not read or write through callbacks") as caught:
            rt.session(MODEL, options)
        assert NAME not in str(caught.value)


def test_a_provider_of_the_library_itself_is_one_that_cannot(rt: Runtime, mul: Any) -> None:
    (other, *_) = [name for name in rt.providers() if name != "CPUExecutionProvider"]
    with rt.session_options(intra_op_num_threads=1) as options:
        options.set_ep_cache({}, strict=True)
        options.append_ep(mul)
        options.append_provider("CPU")
        with rt.session(MODEL, options) as session:
            assert list(session.ep_cache_support()) == [NAME]
    with rt.session_options(intra_op_num_threads=1) as options:
        options.set_ep_cache({}, strict=True)
        options.append_ep(mul)
        options.append_provider(other)
        with pytest.raises(oc.EpCacheError, match=f"{other} does not read or write through callbacks"):
            rt.session(MODEL, options)


def test_a_session_without_an_ep_of_a_device_is_refused(rt: Runtime) -> None:
    with rt.session_options(intra_op_num_threads=1) as options:
        options.set_ep_cache({}, strict=True)
        with pytest.raises(oc.EpCacheError, match="no execution provider was appended"):
            rt.session(MODEL, options)


@pytest.mark.parametrize("direction", ["read", "write"])
@pytest.mark.parametrize("kind", [OSError, KeyboardInterrupt])
def test_what_fails_is_raised_with_its_cause(rt: Runtime, mul: Any, direction: str, kind: type[BaseException]) -> None:
    raised = []

    def fail(*args: Any) -> None:
        raised.append(kind("gone"))
        raise raised[0]

    with pytest.raises(oc.EpCacheError, match="it failed: gone") as caught:
        with cached_session(rt, mul, strict=True, **{direction: fail}):
            pass
    assert caught.value.__cause__ is raised[0]
    raised.clear()
    del caught


def test_a_value_above_the_limit_is_raised(rt: Runtime, mul: Any) -> None:
    with pytest.raises(oc.EpCacheError, match=r"has \d+ bytes; at most 10 may pass"):
        with cached_session(rt, mul, {}, strict=True, max_size=10):
            pass


def test_a_refused_session_leaves_the_options_usable(rt: Runtime, mul: Any) -> None:
    recorder = Recorder(fails=OSError("for now"))
    with rt.session_options(intra_op_num_threads=1) as options:
        options.set_ep_cache(recorder, strict=True)
        options.append_ep(mul)
        with pytest.raises(oc.EpCacheError):
            rt.session(MODEL, options)
        recorder.fails = None
        rt.session(MODEL, options).close()  # it answers for itself only
        assert recorder.kinds == "rwrw"


def test_what_failed_while_an_earlier_session_ran_is_not_a_later_ones(rt: Runtime) -> None:
    recorder = Recorder(fails=OSError("during a run"))
    with registered(rt, LazyEp) as devices, rt.session_options(intra_op_num_threads=1) as options:
        options.set_ep_cache(recorder, strict=True)
        options.append_ep(devices)
        with rt.session(MODEL, options) as session:
            np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)  # a run does not fail
            assert session.ep_cache_stats().read_errors == 1
            with rt.session(MODEL, options):
                pass
        recorder.fails = None


def test_what_failed_before_a_session_that_could_not_be_made_is_not_the_next_ones(rt: Runtime) -> None:
    recorder = Recorder(fails=OSError("at first"))

    def compile(self: Any, graph: Any, node: Any) -> Any:
        self.context.cache.get("key")
        if recorder.fails:
            raise ValueError("no such kernel")
        return lambda context: None

    with registered(rt, make_ep(LazyEp, compile=compile)) as devices:
        with rt.session_options(intra_op_num_threads=1) as options:
            options.set_ep_cache(recorder, strict=True)
            options.append_ep(devices)
            with pytest.raises(oc.OrtError, match="no such kernel"):
                rt.session(MODEL, options)
            recorder.fails = None
            rt.session(MODEL, options).close()


def test_of_sessions_made_at_once_only_those_that_failed_are_refused(rt: Runtime, mul: Any) -> None:
    bad: set[int] = set()
    results: dict[bool, list[bool]] = {True: [], False: []}

    def read(key: str) -> None:
        if threading.get_ident() in bad:
            raise OSError("this thread's")

    cache = oc.CacheCallbacks(read, None, strict=True)

    def work(fails: bool) -> None:
        if fails:
            bad.add(threading.get_ident())
        for _ in range(10):
            try:
                with cached_session(rt, mul, cache):
                    results[fails].append(True)
            except oc.EpCacheError:
                results[fails].append(False)

    threads = [threading.Thread(target=work, args=(number % 2 == 0,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {True: [False] * 20, False: [True] * 20}
    assert cache._collecting == []


@pytest.mark.parametrize("bits", [4, 7, 1 << 31])
def test_unknown_support_bits_are_refused_and_named(rt: Runtime, bits: int) -> None:
    with registered(rt, make_ep(MulEp, cache_support=bits)) as devices:
        with pytest.raises(oc.OrtError, match=rf"flags {bits:#x}; the bits {bits & ~3:#x} are not known"):
            with cached_session(rt, devices, {}):
                pass


@pytest.mark.parametrize("value", ["READ", None, 1.0])
def test_support_that_is_no_flag_is_refused(rt: Runtime, value: Any) -> None:
    with registered(rt, make_ep(MulEp, cache_support=value)) as devices:
        with pytest.raises(oc.OrtError, match=f"must be a CacheSupport, not {type(value).__name__}"):
            with cached_session(rt, devices, {}):
                pass


def test_eps_that_ort_selects_count_as_appended_ones(rt: Runtime, mul: Any) -> None:
    with registered(rt, make_ep(PlainMul, name="Unable")), rt.session_options(intra_op_num_threads=1) as options:
        recorder, chosen = Recorder(), [NAME]

        def select(devices: Any, *rest: Any) -> Any:
            return [device for device in devices if device.ep_name in chosen]

        options.set_ep_cache(recorder, strict=True)
        options.set_provider_selection_policy_delegate(select)
        with rt.session(MODEL, options) as session:
            assert session.ep_cache_support() == {NAME: CacheSupport.READ | CacheSupport.WRITE}
        assert recorder.kinds == "rw"
        chosen[:] = ["Unable"]
        with pytest.raises(oc.EpCacheError, match=r"Unable does not|no execution provider"):
            rt.session(MODEL, options)
