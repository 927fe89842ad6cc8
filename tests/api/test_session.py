"""A session's run: what it takes and gives is what ``InferenceSession.run`` takes and gives, and more."""

from __future__ import annotations

from collections import ChainMap, OrderedDict
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import onnxruntime
import pytest

import ortcache as oc

from ..conformance.nodes import compare
from ..support.graphs import Node, TensorProto, constant, identity, model, tensor

#: p = a + b, q = a - b, r = a * w.
SEVERAL = model(
    [Node("Add", ["a", "b"], ["p"]), Node("Sub", ["a", "b"], ["q"]), Node("Mul", ["a", "w"], ["r"])],
    [tensor("a", ["n"]), tensor("b", ["n"])],
    [tensor("p", ["n"]), tensor("q", ["n"]), tensor("r", ["n"])],
    [constant("w", [2], "f4")],
)
#: y = x + w, and a feed may replace w.
REPLACEABLE = model(
    [Node("Add", ["x", "w"], ["y"])],
    [tensor("x", [2]), tensor("w", [2])],
    [tensor("y", [2])],
    [constant("w", [10, 20], "f4")],
)
A, B = np.array([1, 2, 3], np.float32), np.array([10, 20, 30], np.float32)
FEEDS = {"a": A, "b": B}
PASSED = np.array([1, 2], np.float32)


@pytest.fixture(scope="module")
def official() -> Any:
    return onnxruntime.InferenceSession(SEVERAL, providers=["CPUExecutionProvider"])


@pytest.fixture
def session(rt: oc.Runtime) -> Any:
    with rt.session(SEVERAL) as made:
        yield made


@pytest.mark.parametrize(
    "names", [None, [], (), ["q"], ["r", "p"], ("q", "p", "r"), ["p", "q", "r"], ["p", "p"], ["r", "p", "r"]]
)
@pytest.mark.parametrize("times", [1, 4])
def test_the_outputs_are_the_official_modules(official: Any, session: oc.Session, names: Any, times: int) -> None:
    expected = official.run(names, FEEDS)
    for _ in range(times):  # later runs may go another way than the first
        assert compare(expected, session.run(names, FEEDS))
        assert compare(expected, session.run(output_names=names, input_feed=FEEDS, run_options=None))


def test_the_feeds_alone_give_all_outputs(official: Any, session: oc.Session) -> None:
    for _ in range(4):
        assert compare(official.run(None, FEEDS), session.run(FEEDS))


@pytest.mark.parametrize(
    "make",
    [
        OrderedDict,
        MappingProxyType,
        ChainMap,
        lambda feeds: dict(reversed(feeds.items())),
        lambda feeds: {name: array.tolist() for name, array in feeds.items()},
        lambda feeds: {name: tuple(array) for name, array in feeds.items()},
        lambda feeds: {name: array.astype(">f4") for name, array in feeds.items()},
        lambda feeds: {name: np.repeat(array, 2)[::2] for name, array in feeds.items()},
    ],
)
def test_feeds_of_every_form(session: oc.Session, make: Any) -> None:
    for _ in range(4):
        assert [result.tolist() for result in session.run(make(FEEDS))] == [[11, 22, 33], [-9, -18, -27], [2, 4, 6]]


def test_values_as_feeds(rt: oc.Runtime, session: oc.Session) -> None:
    value = rt.value(A)
    for _ in range(4):
        assert session.run(["p"], {"a": value, "b": B})[0].tolist() == [11, 22, 33]
    assert not value.closed


def test_the_order_of_the_feeds_does_not_matter(session: oc.Session) -> None:
    for feeds in (FEEDS, dict(reversed(FEEDS.items()))) * 4:
        assert session.run(["q"], feeds)[0].tolist() == [-9, -18, -27]
        assert session.run(feeds)[1].tolist() == [-9, -18, -27]


def test_results_are_the_callers_own(session: oc.Session) -> None:
    kept = [session.run(FEEDS) for _ in range(5)]
    for results in kept:
        for result in results:
            assert result.flags.writeable
            result[:] = 0
    assert [result.tolist() for result in session.run(FEEDS)] == [[11, 22, 33], [-9, -18, -27], [2, 4, 6]]
    arrays = [result for results in kept for result in results]
    assert not any(np.shares_memory(a, b) for at, a in enumerate(arrays) for b in (*arrays[:at], A, B))


def test_run_options(rt: oc.Runtime, session: oc.Session) -> None:
    with rt.run_options(logid="tag") as options:
        for _ in range(3):
            assert session.run(["p"], FEEDS, options)[0].tolist() == [11, 22, 33]
            assert session.run(FEEDS, run_options=options)[0].tolist() == [11, 22, 33]
    with pytest.raises(oc.ClosedError, match="this RunOptions is closed"):
        session.run(None, FEEDS, options)


def test_an_initializer_that_a_feed_replaces(rt: oc.Runtime) -> None:
    with rt.session(REPLACEABLE) as session:
        for _ in range(4):
            assert session.run({"x": PASSED})[0].tolist() == [11, 22]
            assert session.run({"x": PASSED, "w": PASSED})[0].tolist() == [2, 4]
            assert session.run({"w": PASSED, "x": PASSED})[0].tolist() == [2, 4]
        with pytest.raises(oc.InputError, match="needs the inputs x too; only w was given"):
            session.run({"w": PASSED})


def test_a_model_without_inputs(rt: oc.Runtime) -> None:
    with rt.session(model([], [], [tensor("c", [2])], [constant("c", [7, 8], "f4")])) as session:
        for _ in range(4):
            (result,) = session.run({})
            assert result.tolist() == [7, 8]
            result[:] = 0
        with session.bind() as binding:
            binding.run()
            assert binding.outputs["c"].tolist() == [7, 8]


@pytest.mark.parametrize("nodes", [[], [Node("Add", ["x", "x"], ["y"])]])
def test_an_input_that_is_an_output_too_is_copied(rt: oc.Runtime, nodes: list[Any]) -> None:
    outputs = [tensor("x", ["n"]), *([tensor("y", ["n"])] if nodes else [])]
    with rt.session(model(nodes, [tensor("x", ["n"])], outputs)) as session:
        for number in range(6):
            x = np.full(3, number, np.float32)
            result = session.run({"x": x})[0]
            assert result.tolist() == [number] * 3 and not np.shares_memory(result, x)
            value = rt.value(x)
            result = session.run(["x"], {"x": value})[0]
            assert result.tolist() == [number] * 3 and not np.shares_memory(result, x)


def test_outputs_never_lie_in_the_memory_of_feeds(rt: oc.Runtime) -> None:
    shape = constant("s", [3, 2], "i8")
    for node in (
        Node("Identity", ["x"], ["y"]),
        Node("Reshape", ["x", "s"], ["y"]),
        Node("Flatten", ["x"], ["y"]),
        Node("Cast", ["x"], ["y"], to=1),
        Node("Squeeze", ["x"], ["y"]),
        Node("Dropout", ["x"], ["y"]),
    ):
        with rt.session(model([node], [tensor("x", [2, 3])], [tensor("y", None)], [shape])) as session:
            x = np.ones((2, 3), np.float32)
            for _ in range(4):
                assert not np.shares_memory(session.run({"x": x})[0], x), node.op_type


@pytest.mark.parametrize("kind", ["FLOAT16", "BFLOAT16", "FLOAT8E4M3FN", "FLOAT8E5M2", "INT64", "BOOL", "UINT16"])
def test_element_types_through_a_run(rt: oc.Runtime, kind: str) -> None:
    from ortcache.api.element import element

    code = getattr(TensorProto, kind)
    array = np.array([0, 1, 1, 0, 1]).astype(element(code).dtype)
    with rt.session(identity(code)) as session:
        for _ in range(4):
            (result,) = session.run({"x": array})
            assert result.dtype == array.dtype and result.tobytes() == array.tobytes()


def test_what_numbers_do_not_show_comes_through(rt: oc.Runtime) -> None:
    bits = np.array([0x7FC00001, 0xFFC12345, 0x7F800001, 0x80000000, 1, 0x807FFFFF, 0x7F800000], np.uint32)
    with rt.session(identity()) as session:
        for _ in range(4):
            assert session.run({"x": bits.view(np.float32)})[0].view(np.uint32).tolist() == bits.tolist()


def test_metadata_profiling_and_dynamic_options(rt: oc.Runtime, mul_model: Path, tmp_path: Path) -> None:
    options = rt.session_options(enable_profiling=True, profile_file_prefix=str(tmp_path / "profile"))
    with rt.session(mul_model, options) as session:
        assert session.metadata.graph_name
        assert session.profiling_start_ns > 0
        session.run({"X": np.ones((3, 2), np.float32)})
        written = Path(session.end_profiling())
        assert written.parent == tmp_path and written.stat().st_size > 0
        session.set_ep_dynamic_options({"ep.dynamic.workload_type": "Efficient"})
        with pytest.raises(TypeError, match="option 'a' must be a str or a number"):
            session.set_ep_dynamic_options({"a": object()})


def test_it_says_what_it_is(rt: oc.Runtime, mul_model: Path) -> None:
    with rt.session(mul_model) as session:
        assert repr(session) == "<ortcache.Session (X: tensor(float) [3, 2]) -> (Y: tensor(float) [3, 2])>"
    assert repr(session) == "<ortcache.Session, closed>"


def test_a_closed_session_refuses_everything(session: oc.Session) -> None:
    for _ in range(4):
        session.run(FEEDS)
    session.close()
    session.close()
    for use in (
        lambda: session.run(FEEDS),
        lambda: session.run(None, FEEDS),
        lambda: session.run(["p"], FEEDS),
        lambda: session.bind(FEEDS),
        lambda: session.metadata,
        lambda: session.end_profiling(),
        lambda: session.profiling_start_ns,
        lambda: session.set_ep_dynamic_options({"a": "b"}),
    ):
        with pytest.raises(oc.ClosedError, match="this Session is closed: make a new one"):
            use()
    assert [info.name for info in session.inputs] == ["a", "b"]  # what it was is still known
