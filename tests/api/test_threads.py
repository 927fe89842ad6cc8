"""Many threads at once: results are never mixed up, and closing under a run is no crash."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc

from ..support.graphs import Node, identity, model, tensor
from ..support.models import loop_model
from ..support.process import run_python

THREADS = 8
MATRIX = model(
    [Node("MatMul", ["a", "b"], ["y"])],
    [tensor("a", ["n", "k"]), tensor("b", ["k", "m"])],
    [tensor("y", ["n", "m"])],
)


def _at_once(work: Callable[[int], None], threads: int = THREADS) -> None:
    """Run the work in many threads that start together; raise what any of them raised."""
    barrier, errors = threading.Barrier(threads), []

    def run(number: int) -> None:
        barrier.wait()
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    started = [threading.Thread(target=run, args=(number,)) for number in range(threads)]
    for thread in started:
        thread.start()
    for thread in started:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    if errors:
        raise errors[0]


@pytest.mark.parametrize("size", [3, 400], ids=["copied", "pointed to"])
def test_different_shapes_at_once_are_never_mixed_up(rt: oc.Runtime, size: int) -> None:
    with rt.session(MATRIX, intra_op_num_threads=1) as session:

        def work(number: int) -> None:
            random = np.random.default_rng(number)
            for turn in range(60):
                n, k = 1 + (number + turn) % 5, size
                a = random.integers(-9, 9, (n, k)).astype(np.float32)
                b = random.integers(-9, 9, (k, 1 + number)).astype(np.float32)
                (y,) = session.run({"a": a, "b": b})
                assert y.shape == (n, 1 + number) and np.array_equal(y, a @ b)

        _at_once(work)


def test_one_shape_in_all_threads(rt: oc.Runtime, mul_model: Path) -> None:
    factors = np.arange(1, 7, dtype=np.float32).reshape(3, 2)
    with rt.session(mul_model, intra_op_num_threads=1) as session:

        def work(number: int) -> None:
            for turn in range(300):
                x = np.full((3, 2), number * 1000 + turn, np.float32)
                assert np.array_equal(session.run({"X": x})[0], x * factors)

        _at_once(work)
        assert 1 <= len(session._plans._idle) <= THREADS


def test_several_sessions_and_bindings_at_once(rt: oc.Runtime, mul_model: Path) -> None:
    def work(number: int) -> None:
        for turn in range(10):
            with rt.session(mul_model, intra_op_num_threads=1) as session:
                x = np.full((3, 2), number + turn, np.float32)
                with session.bind({"X": x}) as binding:
                    binding.run()
                    assert np.array_equal(binding.outputs["Y"], session.run({"X": x})[0])

    _at_once(work)


@pytest.mark.parametrize("how", ["run", "names", "bind"])
def test_closing_a_session_that_others_run_is_a_result_or_a_closed_error(
    rt: oc.Runtime, mul_model: Path, how: str
) -> None:
    x = np.ones((3, 2), np.float32)
    for _ in range(15):
        session = rt.session(mul_model, intra_op_num_threads=1)

        def work(number: int, session: oc.Session = session) -> None:
            if number == 0:
                time.sleep(0.003)
                session.close()
                return
            try:
                binding = session.bind({"X": x}, {"Y": None})
                for _ in range(100_000):
                    if how == "bind":
                        binding.run()
                        y = binding.outputs["Y"]
                    else:
                        y = session.run(["Y"] if how == "names" else None, {"X": x})[0]
                    assert y.tolist() == [[1, 2], [3, 4], [5, 6]]
            except oc.ClosedError:
                return
            raise AssertionError("it was never closed")

        _at_once(work, 4)


def test_closing_waits_for_nobody_and_a_run_that_goes_on_ends_well(rt: oc.Runtime) -> None:
    session = rt.session(loop_model(), intra_op_num_threads=1)
    feeds = {"trips": np.array(150_000), "start": np.zeros(1, np.float32)}
    results: list[Any] = []
    started = threading.Event()

    def work() -> None:
        started.set()
        results.append(session.run(feeds))

    thread = threading.Thread(target=work)
    thread.start()
    started.wait()
    time.sleep(0.02)
    running = not results
    session.close()
    with pytest.raises(oc.ClosedError):
        session.run(feeds)
    thread.join(60)
    assert running and results[0][0].tolist() == [150_000]


def test_a_binding_that_a_thread_runs_refuses_another(rt: oc.Runtime) -> None:
    with rt.session(loop_model(), intra_op_num_threads=1) as session:
        feeds = {"trips": np.array(200_000), "start": np.zeros(1, np.float32)}
        binding = session.bind(feeds, {"end": None})
        thread = threading.Thread(target=binding.run)
        thread.start()
        while binding._free:
            time.sleep(0.001)
        with pytest.raises(RuntimeError, match="another thread is running this binding: make one for each thread"):
            binding.run()
        with pytest.raises(RuntimeError, match="another thread"):
            _ = binding.outputs
        binding.close()  # under the run
        assert thread.is_alive()
        thread.join(60)
        assert not thread.is_alive()
        with pytest.raises(oc.ClosedError):
            binding.run()


def test_values_are_made_and_closed_in_many_threads(rt: oc.Runtime) -> None:
    with rt.session(identity(), intra_op_num_threads=1) as session:
        array = np.arange(5, dtype=np.float32)
        shared = rt.value(array)

        def work(number: int) -> None:
            for turn in range(200):
                value = rt.value(array)
                assert session.run({"x": value})[0].tolist() == [0, 1, 2, 3, 4]
                value.close()
                try:
                    assert session.run({"x": shared})[0].tolist() == [0, 1, 2, 3, 4]
                except oc.ClosedError:
                    assert turn > 50 or number != 0
                if (number, turn) == (0, 100):
                    shared.close()

        _at_once(work)


def test_threads_that_still_run_at_exit_do_no_harm() -> None:
    code = """
        import threading, time
        import numpy as np, ortcache as oc
        from tests.support.graphs import identity
        rt = oc.load()
        small, large = np.ones(3, np.float32), np.ones(1_000_000, np.float32)
        session = rt.session(identity(), intra_op_num_threads=1)
        def run(feeds):
            while True:
                session.run(feeds)
        def bound(array):
            binding = session.bind({"x": array})
            while True:
                binding.run()
        for target, argument in ((run, {"x": small}), (run, {"x": large}), (bound, small), (bound, large.copy())):
            threading.Thread(target=target, args=(argument,), daemon=True).start()
        time.sleep(0.2)
        print("end")
    """
    for _ in range(3):
        assert run_python(code) == "end\n"
