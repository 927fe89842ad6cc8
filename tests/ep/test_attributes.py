"""Attributes of nodes, as ONNX has them, to Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest

from ortcache.ep import Graph
from ortcache.errors import ClosedError, InputError
from ortcache.runtime import Runtime

from ..support.ep_models import info, loop_model, model_of
from .test_graph import look


def _attributes(rt: Runtime, node: onnx.NodeProto, inputs: Any, outputs: Any) -> dict[str, Any]:
    model = model_of([node], inputs, outputs)
    return look(rt, model, lambda graph: dict(graph.nodes[0].attributes))[0]


def test_numbers_and_lists_of_them(rt: Runtime) -> None:
    node = onnx.helper.make_node(
        "Conv", ["X", "W"], ["Y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 1], group=1, auto_pad="NOTSET"
    )
    found = _attributes(rt, node, [info("X", [1, 1, 8, 8]), info("W", [1, 1, 3, 3])], [info("Y", None)])
    assert {key: found[key] for key in ("kernel_shape", "pads", "strides", "group", "auto_pad")} == {
        "kernel_shape": [3, 3],
        "pads": [1, 1, 1, 1],
        "strides": [2, 1],
        "group": 1,
        "auto_pad": "NOTSET",
    }


def test_floats(rt: Runtime) -> None:
    node = onnx.helper.make_node("Gemm", ["A", "B"], ["Y"], alpha=0.25, beta=-1e-7, transA=1)
    found = _attributes(rt, node, [info("A", [2, 2]), info("B", [2, 2])], [info("Y", [2, 2])])
    assert (found["alpha"], found["beta"], found["transA"]) == (0.25, float(np.float32(-1e-7)), 1)


def test_lists_of_floats_and_of_text(rt: Runtime) -> None:
    scaler = onnx.helper.make_node("Scaler", ["X"], ["Y"], domain="ai.onnx.ml", offset=[0.5, -1], scale=[2.0, 4.0])
    encoder = onnx.helper.make_node(
        "LabelEncoder", ["S"], ["T"], domain="ai.onnx.ml", keys_strings=["a", "", "ä"], values_int64s=[1, 2, -(2**62)]
    )
    text = onnx.TensorProto.STRING
    model = model_of(
        [scaler, encoder],
        [info("X", [1, 2]), info("S", [1], text)],
        [info("Y", [1, 2]), info("T", [1], onnx.TensorProto.INT64)],
        domains={"ai.onnx.ml": 2},
    )
    found = look(rt, model, lambda graph: {node.op_type: dict(node.attributes) for node in graph.nodes})[0]
    assert (found["Scaler"]["offset"], found["Scaler"]["scale"]) == ([0.5, -1], [2, 4])
    assert found["LabelEncoder"]["keys_strings"] == ["a", "", "ä"]
    assert found["LabelEncoder"]["values_int64s"] == [1, 2, -(2**62)]


def test_a_tensor_is_an_array_of_its_own(rt: Runtime) -> None:
    node = onnx.helper.make_node(
        "ConstantOfShape", ["S"], ["Y"], value=onnx.numpy_helper.from_array(np.ones(1, np.int8))
    )
    found = _attributes(rt, node, [info("S", [1], onnx.TensorProto.INT64)], [info("Y", None, onnx.TensorProto.INT8)])
    assert found["value"].dtype == np.int8 and found["value"].tolist() == [1]
    assert found["value"].flags.writeable and found["value"].flags.owndata


def test_a_graph_is_a_graph(rt: Runtime) -> None:
    def facts(graph: Graph) -> Any:
        if graph.name == "graph":
            body = graph.nodes[0].attributes["body"]
            return isinstance(body, Graph), body is graph.nodes[0].subgraphs["body"], body.name
        return None

    assert look(rt, loop_model(), facts)[-1] == (True, True, "body")


def test_names_are_there_and_others_are_not(rt: Runtime) -> None:
    node = onnx.helper.make_node("Softmax", ["X"], ["Y"], axis=-1)
    model = model_of([node], [info("X", [2, 2])], [info("Y", [2, 2])])

    def facts(graph: Graph) -> Any:
        attributes = graph.nodes[0].attributes
        with pytest.raises(KeyError):
            attributes["other"]
        return list(attributes), len(attributes), "axis" in attributes, attributes.get("other", 7), repr(attributes)

    assert look(rt, model, facts)[0] == (["axis"], 1, True, 7, "<Attributes axis>")


def test_a_kind_that_onnx_runtime_cannot_read_says_so_when_it_is_asked_for(rt: Runtime) -> None:
    kind = onnx.helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [2])
    node = onnx.helper.make_node("Optional", [], ["O"], type=kind)
    has = onnx.helper.make_node("OptionalHasElement", ["O"], ["Y"])
    model = model_of([node, has], [], [info("Y", [], onnx.TensorProto.BOOL)])

    def facts(graph: Graph) -> Any:
        attributes = next(node for node in graph.nodes if node.op_type == "Optional").attributes
        with pytest.raises(InputError, match="attribute 'type': ONNX Runtime has no function that reads"):
            attributes["type"]
        return list(attributes)

    assert look(rt, model, facts)[0] == ["type"]


def test_attributes_are_dead_after_the_call(rt: Runtime) -> None:
    node = onnx.helper.make_node("Softmax", ["X"], ["Y"], axis=-1)
    model = model_of([node], [info("X", [2, 2])], [info("Y", [2, 2])])
    attributes = look(rt, model, lambda graph: graph.nodes[0].attributes)[0]
    with pytest.raises(ClosedError):
        attributes["axis"]
