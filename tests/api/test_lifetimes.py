"""Who keeps what alive: every order of closing, dropping and collecting is safe, and nothing stays behind."""

from __future__ import annotations

import gc
import itertools
import sys
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc

from ..support.graphs import Node, TensorProto, identity, model, tensor

X = np.ones((3, 2), np.float32)
Y = [[1, 2], [3, 4], [5, 6]]
NONZERO = model([Node("NonZero", ["x"], ["y"])], [tensor("x", ["n"])], [tensor("y", [1, None], TensorProto.INT64)])


def _overwrite() -> None:
    """Ask for memory of many sizes, so that what was freed too early does not keep its content by luck."""
    for size in (64, 256, 4096, 100_000, 4_000_000):
        [np.full(size, 7, np.uint8) for _ in range(8)]
    gc.collect()


def test_an_array_outlives_its_value(rt: oc.Runtime) -> None:
    for close in (True, False):
        value = rt.value(np.arange(100_000, dtype=np.float32))
        array = value.numpy()
        if close:
            value.close()
        del value
        _overwrite()
        assert array[0] == 0 and array[-1] == 99_999 and array.sum() == np.arange(100_000, dtype=np.float32).sum()


def test_a_value_outlives_its_array(rt: oc.Runtime) -> None:
    array = np.arange(100_000, dtype=np.float32)
    value = rt.value(array)
    del array
    _overwrite()
    with rt.session(identity()) as session:
        assert session.run({"x": value})[0][-1] == 99_999


@pytest.mark.parametrize("size", [4, 1_000_000])
def test_results_outlive_the_session_and_their_feeds(rt: oc.Runtime, size: int) -> None:
    session = rt.session(identity())
    results = [session.run({"x": np.full(size, number, np.float32)})[0] for number in range(5)]
    session.close()
    del session
    _overwrite()
    for number, result in enumerate(results):
        assert result.shape == (size,) and (result == number).all()


def test_results_that_ort_allocated_outlive_the_session(rt: oc.Runtime) -> None:
    session = rt.session(NONZERO)
    results = [session.run({"x": np.ones(1000, np.float32)})[0] for _ in range(5)]
    del session
    _overwrite()
    assert all(result[0].tolist() == list(range(1000)) for result in results)


def test_the_fed_arrays_are_released_after_the_run(rt: oc.Runtime) -> None:
    for x in (np.ones(4, np.float32), np.ones(100_000, np.float32), np.ones(8, np.float32)[::2], np.ones(4, ">f4")):
        with rt.session(identity()) as session:
            before = sys.getrefcount(x)
            for _ in range(6):
                results = session.run({"x": x})
            names = session.run(["y"], {"x": x})
            assert sys.getrefcount(x) == before, x.shape
            del results, names


def test_failed_runs_release_what_was_fed(rt: oc.Runtime, mul_model: Path) -> None:
    wrong = np.ones((2, 3), np.float32)
    with rt.session(mul_model) as session:
        before = sys.getrefcount(wrong)
        for _ in range(5):
            with pytest.raises(oc.OrtError):
                session.run({"X": wrong})
        gc.collect()
        assert sys.getrefcount(wrong) == before


def test_everything_goes_when_it_is_dropped(rt: oc.Runtime, mul_model: Path) -> None:
    session = rt.session(mul_model)
    binding = session.bind({"X": X})
    value = rt.value(X)
    for _ in range(4):
        session.run({"X": X})
    binding.run()
    references = [weakref.ref(thing) for thing in (session, binding, value, session._plans._idle, binding._io)
                  if type(thing) is not list]  # fmt: skip
    records = [session._record, binding._io._record, value._record]
    del session, binding, value
    assert [reference() for reference in references] == [None] * len(references)  # without the collector's help
    assert [record._needed for record in records] == [0, 0, 0]


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_closing_in_any_order(rt: oc.Runtime, mul_model: Path, order: tuple[int, ...]) -> None:
    runtime = oc.load(rt.library)
    session = runtime.session(mul_model)
    binding = session.bind({"X": X}, {"Y": None})
    value = runtime.value(X)
    binding.run()
    output = binding.outputs["Y"]
    for _ in range(4):
        session.run({"X": value})
        session.run({"X": X})
    things: list[Any] = [runtime, session, binding, value]
    for place in order:
        things[place].close()
        _overwrite()
    assert output.tolist() == Y
    for thing in things:
        thing.close()


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_dropping_in_any_order(rt: oc.Runtime, mul_model: Path, order: tuple[int, ...]) -> None:
    runtime = oc.load(rt.library)
    session = runtime.session(mul_model)
    binding = session.bind({"X": X})
    things: list[Any] = [runtime, session, binding, runtime.value(X)]
    for _ in range(4):
        session.run({"X": X})
    del runtime, session, binding
    for place in order:
        things[place] = None
        gc.collect()


def test_a_session_goes_on_after_its_runtime_is_closed(rt: oc.Runtime, mul_model: Path) -> None:
    with oc.load(rt.library) as runtime:
        session = runtime.session(mul_model)
    for _ in range(4):
        assert session.run({"X": X})[0].tolist() == Y


def test_a_binding_keeps_its_session_and_its_arrays(rt: oc.Runtime, mul_model: Path) -> None:
    binding = rt.session(mul_model).bind({"X": X.copy()}, {"Y": rt.value(np.zeros((3, 2), np.float32))})
    _overwrite()
    binding.run()
    assert binding.outputs["Y"].tolist() == Y


def test_a_bound_value_may_be_closed(rt: oc.Runtime, mul_model: Path) -> None:
    with rt.session(mul_model) as session:
        x, y = rt.value(X.copy()), rt.value(np.zeros((3, 2), np.float32))
        array = y.numpy()
        binding = session.bind({"X": x}, {"Y": y})
        x.close()
        y.close()
        del x, y
        _overwrite()
        binding.run()
        assert array.tolist() == Y


def test_garbage_in_circles(rt: oc.Runtime, mul_model: Path) -> None:
    class Holder:
        pass

    records = []
    for _ in range(20):
        holder: Any = Holder()
        holder.session = rt.session(mul_model)
        holder.binding = holder.session.bind({"X": X})
        holder.binding.run()
        holder.results = holder.session.run({"X": X})
        holder.itself = holder
        records.append(holder.session._record)
    del holder
    gc.collect()
    assert [record._needed for record in records] == [0] * 20


def test_a_session_that_could_not_be_made_leaves_nothing(rt: oc.Runtime, mul_model: Path) -> None:
    before = rt.env._record._needed
    for model_bytes in (b"junk", mul_model.read_bytes()[:50]):
        with pytest.raises(oc.OrtError):
            rt.session(model_bytes)
    gc.collect()
    assert rt.env._record._needed == before


def test_runs_make_no_work_for_the_collector(rt: oc.Runtime, mul_model: Path) -> None:
    wrong = np.ones((2, 3), np.float32)
    with rt.session(mul_model) as session, session.bind({"X": X}) as good, session.bind({"X": wrong}) as bad:

        def work() -> None:
            session.run({"X": X})
            session.run(["Y"], {"X": X})
            good.run()
            rt.value(X).numpy()
            for fails in (lambda: session.run({"X": wrong}), lambda: session.run({"X": X.astype("f8")}), bad.run):
                with pytest.raises((oc.OrtError, oc.InputError)):
                    fails()

        for _ in range(5):
            work()
        gc.collect()
        gc.disable()
        try:
            for _ in range(100):
                work()
            assert gc.collect() < 100
        finally:
            gc.enable()
