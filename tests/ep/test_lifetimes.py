"""Nothing is let go while C may use it, and everything afterwards. ``ORTCACHE_STRESS`` says how many times."""

from __future__ import annotations

import gc
import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ortcache.ep import MulEp, instances, python_plugin, vtable
from ortcache.ep import plugin as plugin_module
from ortcache.errors import OrtcacheError, OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import PlainMul, ep_session, make_ep, multiply, registered
from ..support.ep_memory import descriptors, resident
from ..support.ep_models import mul_graph
from ..support.process import run_python

TIMES = int(os.environ.get("ORTCACHE_STRESS", "200"))
MODEL = mul_graph(1, [2], [2], [2], constant_b=np.array([3, 4], np.float32))
FEEDS = {"A": np.array([1, 2], np.float32)}


def is_flat(once: Callable[[], object], times: int, spare: int = 2 << 20) -> None:
    """Doing it so many times leaves no memory, no descriptor, no trampoline and no struct behind."""
    for _ in range(max(20, times // 4)):  # what is made once, and the allocators' reserves
        once()
    counts, before = (len(vtable._trampolines), len(vtable._tables), descriptors()), resident()
    for _ in range(times):
        once()
    grown = resident() - before
    assert (len(vtable._trampolines), len(vtable._tables), descriptors()) == counts
    assert grown < spare, f"{grown / times:.0f} bytes a time, {times} times"


def test_sessions_are_flat(rt: Runtime) -> None:
    values: dict[str, bytes] = {}
    with registered(rt, MulEp) as devices:

        def once() -> None:
            with ep_session(rt, devices, MODEL, ep_cache=values) as session:
                assert session.run(FEEDS)[0].tolist() == [3, 8]

        is_flat(once, TIMES)
        assert len(values) == 1


def test_failing_sessions_are_flat(rt: Runtime) -> None:
    def compile(self: Any, graph: Any, node: Any) -> Any:
        raise ValueError("no")

    with registered(rt, make_ep(compile=compile)) as devices:

        def once() -> None:
            quiet = {"log_severity_level": "fatal"}  # pytest keeps what is logged
            with pytest.raises(OrtError, match="no"), ep_session(rt, devices, MODEL, **quiet):
                pass

        for _ in range(TIMES):
            once()  # the log's and the allocator's own memory grows at first
        is_flat(once, TIMES)


def test_failing_runs_are_flat(rt: Runtime) -> None:
    def kernel(context: Any) -> None:
        np.add(*context.inputs)
        raise ValueError("no")

    ep = make_ep(compile=lambda self, graph, node: kernel)
    with ep_session(rt, ep, MODEL, log_severity_level="fatal") as session:  # pytest keeps what is logged

        def once() -> None:
            with pytest.raises(OrtError, match="no"):
                session.run(FEEDS)

        for _ in range(1200):
            once()  # ORT keeps some kilobytes for each of the first thousand
        is_flat(once, TIMES * 5)


def test_runs_are_flat(rt: Runtime) -> None:
    with ep_session(rt, MulEp, MODEL) as session:
        is_flat(lambda: session.run(FEEDS), TIMES * 20)


def test_registrations_are_flat(rt: Runtime) -> None:
    def once() -> None:
        with ep_session(rt, PlainMul, mul_graph(1, [2], [2], [2])) as session:
            assert session.run({"A": FEEDS["A"], "B": FEEDS["A"]})[0].tolist() == [1, 4]

    is_flat(once, 50)


def test_failing_registrations_are_flat(rt: Runtime) -> None:
    def supports(cls: Any, device: Any) -> Any:
        raise ValueError("no device")

    ep = make_ep(supports=classmethod(supports))

    def once() -> None:
        with pytest.raises(OrtError, match="no device"):
            rt.register_ep(ep)

    is_flat(once, 50)


def test_a_registration_that_ends_with_its_runtime_leaves_no_file_open() -> None:
    code = """
        import ortcache as oc
        from tests.support.ep_memory import descriptors
        def once():
            with oc.load() as rt:
                rt.register_ep(oc.ep.MulEp)
        once()
        before = descriptors()
        for _ in range(20):
            once()
        assert descriptors() == before, (descriptors(), before)
    """
    run_python(code)


def test_what_only_c_holds_goes_on_working(rt: Runtime) -> None:
    values: dict[str, bytes] = {}
    library = python_plugin(make_ep(MulEp, name="DroppedMul"))
    rt.api.RegisterExecutionProviderLibrary(rt.env, b"dropped", library.path.encode())
    library.loaded()
    del library
    gc.collect()
    with rt.session_options(ep_cache=values) as options:
        options.append_ep([device for device in rt.ep_devices() if device.ep_name == "DroppedMul"])
        session = rt.session(MODEL, options)
    del options
    gc.collect()
    assert session.run(FEEDS)[0].tolist() == [3, 8] and len(values) == 1
    session.close()
    rt.api.UnregisterExecutionProviderLibrary(rt.env, b"dropped")
    (left,) = (one for one in plugin_module._registered if one.ep_classes[0].name == "DroppedMul")
    left.close()


def test_what_belongs_to_a_session_goes_with_it(rt: Runtime) -> None:
    alive: list[weakref.ref[Any]] = []

    class Kernel:
        def __init__(self) -> None:
            alive.append(weakref.ref(self))

        def create_state(self) -> Any:
            state = np.ones(3)
            alive.append(weakref.ref(state))
            return state

        def compute(self, context: Any) -> None:
            multiply(context)

    ep = make_ep(compile=lambda self, graph, node: Kernel())
    with registered(rt, ep) as devices:
        with ep_session(rt, devices, MODEL) as session:
            (instance,) = instances(ep)
            alive += [weakref.ref(instance), weakref.ref(instance.context.cache)]
            del instance
            gc.collect()
            assert len(alive) == 4 and all(ref() is not None for ref in alive)
            session.run(FEEDS)
        assert [ref() for ref in alive] == [None] * 4  # at once, without the garbage collector


def test_a_dropped_session_is_released_too(rt: Runtime) -> None:
    with registered(rt, PlainMul) as devices:
        options = rt.session_options()
        options.append_ep(devices)
        session = rt.session(MODEL, options)
        assert len(instances(PlainMul)) == 1
        options.close()
        del session, options
        gc.collect()
        assert instances(PlainMul) == []


def test_an_exception_that_is_kept_does_not_keep_the_library(rt: Runtime) -> None:
    kept: list[BaseException] = []

    def compile(self: Any, graph: Any, node: Any) -> Any:
        try:
            raise ValueError("caught")
        except ValueError as error:
            kept.append(error)
        return multiply

    with ep_session(rt, make_ep(compile=compile), MODEL) as session:
        session.run(FEEDS)
    with pytest.raises(OrtError) as caught, ep_session(rt, make_ep(compile=lambda *args: 1 / 0), MODEL):
        pass
    assert len(kept) == 1 and isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_library_in_use_is_not_unregistered(rt: Runtime) -> None:
    with registered(rt, PlainMul) as devices:
        with ep_session(rt, devices, MODEL) as session:
            with pytest.raises(OrtcacheError, match="is in use: close the sessions over it first"):
                rt.unregister_ep_library("PlainMul")
            assert session.run(FEEDS)[0].tolist() == [3, 8]
