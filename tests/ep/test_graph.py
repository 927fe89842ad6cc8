"""What an execution provider sees of a graph, in the call and after it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

from ortcache.ep import ExternalData, Graph, Node, ValueInfo
from ortcache.errors import ClosedError
from ortcache.runtime import Runtime

from ..support.ep_classes import ep_session, make_ep
from ..support.ep_models import if_model, info, loop_model, many_muls, model_of, squares_model
from ..support.models import external_model

PLAIN = {"graph_optimization_level": "disable_all"}


def look(rt: Runtime, model: Any, function: Callable[[Graph], Any], **settings: Any) -> list[Any]:
    """What a function gives for each graph that is shown to an execution provider; it takes no node."""
    seen: list[Any] = []

    def get_capability(self: Any, graph: Graph) -> list[Node]:
        seen.append(function(graph))
        return []

    with ep_session(rt, make_ep(get_capability=get_capability), model, **{**PLAIN, **settings}):
        return seen


def names(values: Any) -> list[str | None]:
    return [None if value is None else value.name for value in values]


def test_a_graph_says_what_it_is(rt: Runtime) -> None:
    def facts(graph: Graph) -> Any:
        return (
            (graph.name, graph.ir_version, graph.opsets[""], graph.model_path, graph.parent_node),
            (names(graph.inputs), names(graph.outputs), names(graph.initializers)),
            [(node.name, node.op_type, node.domain, node.since_version, node.ep_name) for node in graph.nodes],
            repr(graph),
        )

    found = look(rt, squares_model(), facts)[0]
    assert found[0] == ("squares", 8, 17, None, None)
    assert found[1] == (["X"], ["Y"], ["W"])
    assert [row[1:] for row in found[2]] == [("Mul", "", 14, "")] * 3
    order = [row[0] for row in found[2]]
    assert sorted(order) == ["both", "square", "weigh"] and order[-1] == "both"  # after what it needs
    assert found[3] == "<Graph squares, 3 nodes>"


def test_a_model_from_a_file_has_its_path(rt: Runtime, tmp_path: Path) -> None:
    path = tmp_path / "mödel with spaces.onnx"
    path.write_bytes(squares_model())
    assert look(rt, path, lambda graph: graph.model_path)[0] == path


def test_nodes_and_values_lead_to_one_another(rt: Runtime) -> None:
    def facts(graph: Graph) -> Any:
        nodes = {node.name: node for node in graph.nodes}
        x, y, s = graph.inputs[0], graph.outputs[0], nodes["square"].outputs[0]
        assert s is not None
        assert y.producer == (nodes["both"], 0) and x.producer is None and s.producer == (nodes["square"], 0)
        assert s.consumers == ((nodes["both"], 0),)
        uses = {(node.name, index) for node, index in x.consumers}
        assert nodes["weigh"].inputs == (x, graph.initializers[0])
        assert all(node.graph is graph for node in graph.nodes)
        assert len({node.id for node in graph.nodes}) == 3
        return uses

    assert look(rt, squares_model(), facts)[0] == {("square", 0), ("square", 1), ("weigh", 0)}


def test_values_have_types_and_shapes(rt: Runtime) -> None:
    model = model_of(
        [onnx.helper.make_node("Mul", ["A", "B"], ["C"])],
        [info("A", ["n", None, 3], onnx.TensorProto.INT64), info("B", [], onnx.TensorProto.INT64)],
        [info("C", None, onnx.TensorProto.INT64)],
    )

    def facts(graph: Graph) -> Any:
        a, b = graph.inputs
        return [(v.type, v.element and v.element.dtype, v.shape, v.static_shape, repr(v)) for v in (a, b)]

    a, b = look(rt, model, facts)[0]
    assert a == ("tensor(int64)", np.int64, ("n", None, 3), None, "<ValueInfo A: tensor(int64) ['n', None, 3]>")
    assert b[:4] == ("tensor(int64)", np.int64, (), ())


def test_values_say_what_they_are(rt: Runtime) -> None:
    weights = {"K": np.ones(2, np.float32), "O": np.full(2, 2, np.float32)}
    model = model_of(
        [onnx.helper.make_node("Mul", ["X", "K"], ["T"]), onnx.helper.make_node("Mul", ["T", "O"], ["Y"])],
        [info("X", [2]), info("O", [2])],  # O is an input too: a feed may replace it
        [info("Y", [2])],
        weights,
    )

    def facts(graph: Graph) -> Any:
        by_name = {v.name: v for node in graph.nodes for v in (*node.inputs, *node.outputs) if v is not None}
        flags = (
            "is_constant_initializer", "is_required_graph_input", "is_optional_graph_input", "is_graph_input",
            "is_graph_output", "is_from_outer_scope",
        )  # fmt: skip
        return {name: [flag for flag in flags if getattr(v, flag)] for name, v in by_name.items()}

    assert look(rt, model, facts)[0] == {
        "X": ["is_required_graph_input", "is_graph_input"],
        "K": ["is_constant_initializer"],
        "O": ["is_optional_graph_input", "is_graph_input"],
        "T": [],
        "Y": ["is_graph_output"],
    }


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize(
    "array",
    [
        np.array([[1.5, -2], [3, np.nan]], np.float32),
        np.array(7, np.int64),
        np.empty((0, 3), np.float64),
        np.array([True, False]),
        np.array(["ä", "", "text"], object),
        np.array([1, 2], np.float16),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_initializers_are_arrays(rt: Runtime, array: Any, copy: bool) -> None:
    kind = onnx.helper.np_dtype_to_tensor_dtype(array.dtype)
    tensor = onnx.numpy_helper.from_array(array, "W")
    model = model_of([onnx.helper.make_node("Identity", ["W"], ["Y"])], [], [info("Y", None, kind)], {"W": tensor})

    def facts(graph: Graph) -> Any:
        (weight,) = graph.initializers
        value = weight.initializer(copy=copy)
        assert graph.outputs[0].initializer() is None and weight.external_data is None
        assert value.flags.writeable is (copy or array.dtype == object or not array.size)
        return value.copy()

    found = look(rt, model, facts)[0]
    assert found.dtype == array.dtype and found.shape == array.shape
    np.testing.assert_array_equal(found, array)


def test_an_initializer_in_another_file_is_read_from_there(rt: Runtime, tmp_path: Path) -> None:
    model, data = external_model("weights.bin", 4096)
    (tmp_path / "model.onnx").write_bytes(model)
    (tmp_path / "weights.bin").write_bytes(data)

    def facts(graph: Graph) -> Any:
        (weight,) = graph.initializers
        return weight.external_data, weight.initializer()

    where, value = look(rt, tmp_path / "model.onnx", facts)[0]
    np.testing.assert_array_equal(value, np.arange(4096, dtype=np.float32))
    assert where == ExternalData(Path("weights.bin"), 0, 16384)


def test_subgraphs_know_the_node_around_them(rt: Runtime) -> None:
    knows = rt.native.library_api_version > 23  # 1.23 does not say that a graph that it shows is a subgraph

    def facts(graph: Graph) -> Any:
        parent = graph.parent_node
        if "Mul" not in {node.op_type for node in graph.nodes}:
            (node,) = graph.nodes
            inner = {key: names(sub.nodes) for key, sub in node.subgraphs.items()}
            assert {key: node.attributes[key] for key in inner} == dict(node.subgraphs)
            return inner, sorted(value.name for value in node.implicit_inputs)
        (mul,) = graph.nodes
        outer = [value.name for value in mul.inputs if value and value.is_from_outer_scope]
        return graph.name, parent and (parent.name, parent.op_type), outer

    found = look(rt, if_model(), facts)
    around = ("choose", "If") if knows else None
    assert sorted(found[:2]) == [("other", around, ["X"]), ("then", around, ["X", "W"])]
    assert found[2] == ({"then_branch": ["then_mul"], "else_branch": ["other_mul"]}, ["W", "X"])


def test_what_goes_into_a_subgraph_has_no_input_number(rt: Runtime) -> None:
    def facts(graph: Graph) -> Any:
        weight = next((value for value in graph.initializers if value.name == "W"), None)
        return None if weight is None else [(node.op_type, index) for node, index in weight.consumers]

    assert look(rt, loop_model(), facts)[-1] == [("Loop", -1)]


def test_a_large_graph_is_read_whole(rt: Runtime) -> None:
    def facts(graph: Graph) -> Any:
        muls = [node for node in graph.nodes if node.op_type == "Mul"]
        weights = {value.name: value.initializer() for value in graph.initializers}
        return len(graph.nodes), [weights[node.inputs[1].name][0] for node in muls if node.inputs[1]]

    count, first = look(rt, many_muls(200), facts)[0]
    assert count == 401 and first == [np.float32(0.5)] * 200


def _everything(graph: Graph) -> list[Callable[[], Any]]:
    """Ways to use each kind of view, asked for in the call."""
    node, value = graph.nodes[0], graph.nodes[0].inputs[1]
    assert isinstance(node, Node) and isinstance(value, ValueInfo)
    uses: list[Callable[[], Any]] = [
        value.initializer,
        lambda: value.initializer(copy=False),
        lambda: list(graph.nodes),
    ]
    for view in (graph, node, value):
        for name in dir(view):
            if not name.startswith("_") and not callable(getattr(type(view), name)) and name != "struct":
                getattr(view, name)  # now it would be cached
                uses.append(lambda view=view, name=name: getattr(view, name))  # type: ignore[misc]
    return uses


def test_views_are_dead_after_the_call(rt: Runtime) -> None:
    uses = look(rt, squares_model(), _everything)[0]
    assert len(uses) > 30
    for use in uses:
        with pytest.raises(ClosedError, match="valid only during the call"):
            use()
