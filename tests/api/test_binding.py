"""Bound runs: in place, without allocating, and nothing that could be written or read wrongly."""

from __future__ import annotations

import gc
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc

from ..support.graphs import Node, TensorProto, identity, model, of_type, optional, sequence, tensor

X = np.arange(6, dtype=np.float32).reshape(3, 2)
SQUARES = X * np.arange(1, 7, dtype=np.float32).reshape(3, 2)
NONZERO = model([Node("NonZero", ["x"], ["y"])], [tensor("x", ["n"])], [tensor("y", [1, None], TensorProto.INT64)])


@pytest.fixture
def session(rt: oc.Runtime, mul_model: Path) -> Iterator[oc.Session]:
    """Y = X times 1, 2, … 6."""
    with rt.session(mul_model, intra_op_num_threads=1) as made:
        yield made


def test_a_bound_run_gives_what_a_run_gives(session: oc.Session) -> None:
    with session.bind({"X": X}) as binding:
        assert binding.run() is None
        assert binding.outputs["Y"].tolist() == session.run({"X": X})[0].tolist() == SQUARES.tolist()
        assert binding.inputs["X"] is X
        assert repr(binding) == "<ortcache.Binding X -> Y>"


def test_an_input_is_read_where_it_is_and_the_output_array_stays(session: oc.Session) -> None:
    x = X.copy()
    with session.bind({"X": x}) as binding:
        output = binding.outputs["Y"]
        for number in range(5):
            x[:] = number
            binding.run()
            assert binding.outputs["Y"] is output
            assert output.tolist() == (number * np.arange(1, 7).reshape(3, 2)).tolist()


def test_a_run_allocates_nothing_in_python(session: oc.Session) -> None:
    with session.bind({"X": X}) as binding:
        for _ in range(50):
            binding.run()
        gc.collect()
        tracemalloc.start()
        try:
            for _ in range(10):
                binding.run()
            before, _ = tracemalloc.get_traced_memory()
            for _ in range(2000):
                binding.run()
            after, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert after - before < 500, "bytes, for 2000 runs"


def test_outputs_of_the_users_own(rt: oc.Runtime, session: oc.Session) -> None:
    own = np.full((3, 2), -1, np.float32)
    with session.bind({"X": X}, {"Y": own}) as binding:
        binding.run()
        assert binding.outputs["Y"] is own and own.tolist() == SQUARES.tolist()
    own[:] = -1
    with session.bind({"X": rt.value(X)}, {"Y": rt.value(own)}) as binding:
        binding.run()
        assert own.tolist() == SQUARES.tolist() == binding.outputs["Y"].tolist()
        assert np.shares_memory(binding.outputs["Y"], own)


def test_chosen_outputs_in_a_chosen_order(rt: oc.Runtime) -> None:
    nodes = [Node("Neg", ["x"], ["p"]), Node("Abs", ["x"], ["q"]), Node("Add", ["x", "x"], ["r"])]
    data = model(nodes, [tensor("x", ["n"])], [tensor(name, ["n"]) for name in "pqr"])
    x = np.array([-1, 2], np.float32)
    expected = {"p": [1, -2], "q": [1, 2], "r": [-2, 4]}
    with rt.session(data) as session:
        own = np.zeros(2, np.float32)
        for outputs in (
            None, [], ["r", "p"], ("q",), {"q": None, "p": None}, {"r": own, "q": None}, {"q": None, "r": own}
        ):  # fmt: skip
            with session.bind({"x": x}, outputs) as binding:
                binding.run()
                found = {name: array.tolist() for name, array in binding.outputs.items()}
                names = list(outputs or expected)
                assert found == {name: expected[name] for name in names} and list(found) == names


def test_outputs_whose_shapes_depend_on_the_data(rt: oc.Runtime) -> None:
    x = np.ones(4, np.float32)
    with rt.session(NONZERO) as session, session.bind({"x": x}) as binding:
        binding.run()
        first = binding.outputs["y"]
        x[1:3] = 0
        binding.run()
        assert binding.outputs["y"].tolist() == [[0, 3]]
        assert first.tolist() == [[0, 1, 2, 3]]  # an array that ORT allocated is the caller's


def test_what_ort_allocated_outlives_the_binding_and_the_session(rt: oc.Runtime) -> None:
    session = rt.session(NONZERO)
    binding = session.bind({"x": np.ones(1000, np.float32)})
    binding.run()
    array = binding.outputs["y"]
    binding.close()
    session.close()
    del binding, session
    gc.collect()
    assert array.tolist() == [list(range(1000))]


def test_strings_sequences_optionals_and_small_types(rt: oc.Runtime) -> None:
    with rt.session(identity(TensorProto.STRING)) as session:
        with session.bind({"x": np.array(["a", "b\0c"], object)}) as binding:
            binding.run()
            assert binding.outputs["y"].tolist() == ["a", "b\0c"]
    lists = model([Node("Identity", ["x"], ["y"])], [of_type("x", sequence())], [of_type("y", sequence())])
    with rt.session(lists) as session, session.bind({"x": [X, X[0]]}) as binding:
        binding.run()
        assert [part.tolist() for part in binding.outputs["y"]] == [X.tolist(), X[0].tolist()]
    maybe = model(
        [Node("OptionalHasElement", ["x"], ["y"])], [of_type("x", optional())], [tensor("y", [], TensorProto.BOOL)]
    )
    with rt.session(maybe) as session:
        for given in ({"x": X}, {"x": None}, {}):
            with session.bind(given) as binding:
                binding.run()
                assert binding.outputs["y"].tolist() is (given.get("x") is not None)


def test_lists_are_converted_once(session: oc.Session) -> None:
    with session.bind({"X": X.tolist()}) as binding:
        binding.run()
        assert binding.outputs["Y"].tolist() == SQUARES.tolist()
        assert isinstance(binding.inputs["X"], oc.Value)


def test_an_input_that_is_an_output_too(rt: oc.Runtime) -> None:
    data = model([Node("Neg", ["x"], ["y"])], [tensor("x", [2])], [tensor("y", [2]), tensor("x", [2])])
    x = np.array([1, 2], np.float32)
    with rt.session(data) as session:
        with session.bind({"x": x}) as binding:
            for number in range(3):
                x[:] = number
                binding.run()
                outputs = binding.outputs
                assert outputs["x"].tolist() == [number] * 2 and outputs["y"].tolist() == [-number] * 2
                assert not np.shares_memory(outputs["x"], x)
        with pytest.raises(oc.InputError, match="output 'x' is an input that is handed through, and not written"):
            session.bind({"x": x}, {"x": np.zeros(2, np.float32)})


def test_run_options(rt: oc.Runtime, session: oc.Session) -> None:
    with rt.run_options(logid="tag") as options, session.bind({"X": X}) as binding:
        binding.run(options)
        assert binding.outputs["Y"].tolist() == SQUARES.tolist()
        options.terminate()
        with pytest.raises(oc.OrtError, match="terminate"):
            binding.run(options)
        binding.run()


def test_use_after_close(session: oc.Session) -> None:
    binding = session.bind({"X": X})
    binding.run()
    binding.close()
    binding.close()
    with pytest.raises(oc.ClosedError, match="this Binding, or its Session, is closed"):
        binding.run()
    assert binding.outputs["Y"].tolist() == SQUARES.tolist()  # the array is the user's


def test_a_session_that_is_closed_under_it(rt: oc.Runtime, mul_model: Path) -> None:
    session = rt.session(mul_model)
    binding = session.bind({"X": X}, {"Y": None})
    binding.run()
    session.close()
    with pytest.raises(oc.ClosedError, match="this Binding, or its Session, is closed"):
        binding.run()
    assert binding.outputs["Y"].tolist() == SQUARES.tolist()  # what the last run gave is still there
    binding.close()
    with pytest.raises(oc.ClosedError):
        _ = binding.outputs


def test_bindings_of_one_session_run_at_once(session: oc.Session) -> None:
    wrong: list[Any] = []

    def work(number: int) -> None:
        x = np.empty((3, 2), np.float32)
        with session.bind({"X": x}) as binding:
            for turn in range(300):
                x[:] = number * 1000 + turn
                binding.run()
                if binding.outputs["Y"].tolist() != (x * np.arange(1, 7, dtype=np.float32).reshape(3, 2)).tolist():
                    wrong.append((number, turn))

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
