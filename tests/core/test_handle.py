"""Who owns what: released once, in an order that C survives, whatever Python does."""

from __future__ import annotations

import copy
import gc
import itertools
import pickle
import threading
import weakref
from typing import Any

import pytest

import ortcache as oc
from ortcache.core import handle as handle_module
from ortcache.core.handle import Handle, Hold

from ..support.process import run_python


class _Thing(Handle):
    """A handle over nothing that writes down when it is released."""

    def __init__(self, log: list[str], name: str, parents: tuple[Handle, ...] = (), keep: tuple[Any, ...] = ()) -> None:
        super().__init__(name, log.append, parents=parents, keep=keep)


class _Object:
    pass


def test_closing_twice_releases_once() -> None:
    log: list[str] = []
    thing = _Thing(log, "a")
    assert not thing.closed
    thing.close()
    thing.close()
    assert thing.closed and log == ["a"]


def test_leaving_a_with_block_closes() -> None:
    log: list[str] = []
    with _Thing(log, "a") as thing:
        assert log == []
    assert thing.closed and log == ["a"]


def test_dropping_the_last_reference_releases() -> None:
    log: list[str] = []
    _Thing(log, "a")
    gc.collect()
    assert log == ["a"]


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_whatever_the_order_of_closing_a_parent_goes_after_its_child(order: tuple[str, ...]) -> None:
    log: list[str] = []
    a = _Thing(log, "a")
    b = _Thing(log, "b", (a,))
    c = _Thing(log, "c", (a, b))
    for name in order:
        {"a": a, "b": b, "c": c}[name].close()
    assert log == ["c", "b", "a"]


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_whatever_the_order_of_dropping_a_parent_goes_after_its_child(order: tuple[str, ...]) -> None:
    log: list[str] = []
    things: dict[str, Handle] = {"a": _Thing(log, "a")}
    things["b"] = _Thing(log, "b", (things["a"],))
    things["c"] = _Thing(log, "c", (things["b"],))
    for name in order:
        del things[name]
        gc.collect()
    assert log == ["c", "b", "a"]


def test_a_cycle_of_handles_is_released_too() -> None:
    log: list[str] = []
    parent = _Thing(log, "parent")
    child = _Thing(log, "child", (parent,))
    parent.child = child  # type: ignore[attr-defined]
    child.parent = parent  # type: ignore[attr-defined]
    del parent, child
    gc.collect()
    assert log == ["child", "parent"]


def test_what_is_kept_lives_until_the_release_and_no_longer() -> None:
    log: list[str] = []
    kept = _Object()
    dead = weakref.ref(kept)
    parent = _Thing(log, "parent", keep=(kept,))
    child = _Thing(log, "child", (parent,))
    del kept
    parent.close()
    gc.collect()
    assert dead() is not None
    child.close()
    gc.collect()
    assert dead() is None


def test_a_closed_handle_is_collected() -> None:
    thing = _Thing([], "a")
    dead = weakref.ref(thing)
    thing.close()
    del thing
    gc.collect()
    assert dead() is None


def test_each_use_after_closing_raises() -> None:
    thing = _Thing([], "a")
    thing.close()
    for use in (lambda: thing._pointer, lambda: thing._as_parameter_, thing._enter):
        with pytest.raises(oc.ClosedError, match="this _Thing is closed: make a new one"):
            use()


def test_a_closed_handle_passed_to_a_c_function_raises_that_it_is_closed(rt: oc.Runtime) -> None:
    options = rt.session_options()
    options.close()
    with pytest.raises(oc.ClosedError, match="this SessionOptions is closed"):
        rt.api.SetIntraOpNumThreads(options, 1)


def test_nothing_new_stands_on_what_is_released_and_nothing_leaks() -> None:
    log: list[str] = []
    good, gone = _Thing(log, "good"), _Thing(log, "gone")
    gone.close()
    with pytest.raises(oc.ClosedError, match="this _Thing is closed"):
        _Thing(log, "child", (good, gone))
    good.close()
    assert log == ["gone", "child", "good"]


def test_a_close_from_another_thread_waits_for_the_call_that_runs() -> None:
    log: list[str] = []
    thing = _Thing(log, "a")
    thing._enter()
    thread = threading.Thread(target=thing.close)
    thread.start()
    thread.join()
    assert thing.closed and log == []
    with pytest.raises(oc.ClosedError):
        thing._enter()
    assert log == []
    thing._leave()
    assert log == ["a"]


def test_many_threads_that_enter_leave_and_close_release_once() -> None:
    for _ in range(50):
        log: list[str] = []
        thing = _Thing(log, "a")

        def use(thing: Handle = thing, log: list[str] = log) -> None:
            for _ in range(20):
                try:
                    thing._enter()
                except oc.ClosedError:
                    return
                assert log == []
                thing._leave()

        threads = [threading.Thread(target=use) for _ in range(4)] + [threading.Thread(target=thing.close)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert log == ["a"]


def test_a_finalizer_may_run_while_the_lock_is_held() -> None:
    log: list[str] = []
    thing = _Thing(log, "a")
    with handle_module._lock:  # as when the collector runs inside `retain`
        thing.close()
    assert log == ["a"]


def test_a_hold_keeps_closed_things_there_as_long_as_it_is_there() -> None:
    log: list[str] = []
    thing = _Thing(log, "a")
    hold = Hold(thing)
    thing.close()
    del thing
    gc.collect()
    assert log == []
    del hold
    gc.collect()
    assert log == ["a"]


def test_a_hold_of_something_closed_is_refused_and_holds_nothing() -> None:
    log: list[str] = []
    good, gone = _Thing(log, "good"), _Thing(log, "gone")
    gone.close()
    with pytest.raises(oc.ClosedError):
        Hold(good, gone)
    good.close()
    assert log == ["gone", "good"]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_handle_is_not_copied(copied: Any) -> None:
    with pytest.raises(TypeError, match="a _Thing stands for a C object of this process"):
        copied(_Thing([], "a"))


def test_real_objects_survive_every_order_of_closing(mul_model: object) -> None:
    code = """
        import gc, itertools, sys, numpy, ortcache
        x = numpy.ones((3, 2), "float32")
        for order in list(itertools.permutations(("runtime", "options", "session", "value", "binding")))[::5]:
            rt = ortcache.load()
            things = {"runtime": rt, "options": rt.session_options(intra_op_num_threads=1), "value": rt.value(x)}
            things["session"] = rt.session(sys.argv[1], things["options"])
            things["binding"] = things["session"].bind({"X": things["value"]})
            del rt
            things["binding"].run()
            for name in order:
                things.pop(name).close()
                gc.collect()
    """
    run_python(code, mul_model)
