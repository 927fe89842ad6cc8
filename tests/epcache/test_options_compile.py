"""Model compilation uses the callbacks of the options that it is given."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import ortcache as oc
from ortcache.runtime import Runtime

from ..support.cache_eps import BOTH, MODEL, Recorder
from ..support.ep_classes import PlainMul, registered


class StopError(Exception):
    """The compilation came so far."""


class ReadingEp(PlainMul):
    """Reads and writes two keys while it compiles, and then ends it."""

    name = "ReadingEp"
    cache_support = BOTH

    def compile(self, graph: Any, node: Any) -> Any:
        for key in ("one", "two"):
            found = self.context.cache.get(key)
            self.context.cache.put(key, b"again " + (found or b"nothing"))
        raise StopError


@pytest.fixture
def options(rt: Runtime) -> Iterator[Any]:
    with registered(rt, ReadingEp) as devices, rt.session_options(intra_op_num_threads=1) as made:
        made.append_ep(devices)
        yield made


def compile_with(rt: Runtime, options: Any) -> None:
    with pytest.raises(oc.OrtError) as caught:
        rt.compile_model(MODEL, options)
    assert isinstance(caught.value.__cause__, StopError)


def test_it_inherits_the_callbacks(rt: Runtime, options: Any) -> None:
    recorder = Recorder({"one": b"1"})
    options.set_ep_cache(recorder)
    compile_with(rt, options)
    assert recorder.kinds == "rwrw"
    assert recorder.values == {"one": b"again 1", "two": b"again nothing"}


def test_it_inherits_what_a_clone_inherited(rt: Runtime, options: Any) -> None:
    recorder = Recorder()
    options.set_ep_cache(recorder)
    with options.clone() as clone:
        options.set_ep_cache()
        compile_with(rt, clone)
    assert recorder.kinds == "rwrw"


def test_without_callbacks_nothing_is_called(rt: Runtime, options: Any) -> None:
    recorder = Recorder()
    options.set_ep_cache(recorder)
    options.set_ep_cache()
    compile_with(rt, options)
    assert recorder.calls == []


@pytest.mark.parametrize("change", ["replace", "clear", "close"])
def test_it_does_not_see_a_later_change(rt: Runtime, options: Any, change: str) -> None:
    second = Recorder()

    class Changing(Recorder):
        def get(self, key: str) -> bytes | None:
            if change == "replace":
                options.set_ep_cache(second)
            elif change == "clear":
                options.set_ep_cache()
            else:
                options.close()
            gc.collect()
            return super().get(key)

    first = Changing()
    options.set_ep_cache(first)
    compile_with(rt, options)
    assert (first.kinds, second.kinds) == ("rwrw", "")
    assert sorted(first.values) == ["one", "two"]


@pytest.mark.parametrize("change", ["replace", "clear", "close"])
def test_nor_does_a_session_that_is_being_made(rt: Runtime, options: Any, change: str) -> None:
    second = Recorder()

    class Changing(Recorder):
        def get(self, key: str) -> bytes | None:
            {"replace": lambda: options.set_ep_cache(second), "clear": options.set_ep_cache, "close": options.close}[
                change
            ]()
            gc.collect()
            return super().get(key)

    first = Changing()
    options.set_ep_cache(first)
    with pytest.raises(oc.OrtError):
        rt.session(MODEL, options)
    assert (first.kinds, second.kinds) == ("rwrw", "")
