"""Models for execution providers, made with the onnx package: multiplications of every kind, subgraphs, attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = [
    "attributes_model",
    "if_model",
    "info",
    "loop_model",
    "many_muls",
    "model_of",
    "mul_graph",
    "squares_model",
]

Dims = Sequence[int | str | None] | None


def info(name: str, shape: Dims, kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    """A tensor's name and type."""
    return helper.make_tensor_value_info(name, kind, shape)


def model_of(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[onnx.ValueInfoProto],
    weights: Mapping[str, Any] | None = None,
    *,
    name: str = "graph",
    opset: int = 17,
    domains: Mapping[str, int] | None = None,
) -> bytes:
    """A model of these nodes; ``weights`` are its initializers."""
    initializers = [
        w if isinstance(w, TensorProto) else numpy_helper.from_array(np.asarray(w), key)
        for key, w in (weights or {}).items()
    ]
    graph = helper.make_graph(nodes, name, inputs, outputs, initializers)
    sets = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, v) for d, v in (domains or {}).items())]
    return helper.make_model(graph, opset_imports=sets, ir_version=8 if opset < 21 else 10).SerializeToString()


def mul_graph(
    kind: int, a: Dims, b: Dims, out: Dims, *, constant_b: Any = None, constant_a: Any = None, opset: int = 17
) -> bytes:
    """C = A * B of one element type; each side is an input, or a constant of the model."""
    weights = {name: value for name, value in (("A", constant_a), ("B", constant_b)) if value is not None}
    inputs = [info(name, shape, kind) for name, shape in (("A", a), ("B", b)) if name not in weights]
    return model_of(
        [helper.make_node("Mul", ["A", "B"], ["C"], name="mul")], inputs, [info("C", out, kind)], weights, opset=opset
    )


def squares_model() -> bytes:
    """Y = (X * X) * (X * W), with names; W float[2] is [10, 20]."""
    nodes = [
        helper.make_node("Mul", ["X", "X"], ["S"], name="square"),
        helper.make_node("Mul", ["X", "W"], ["T"], name="weigh"),
        helper.make_node("Mul", ["S", "T"], ["Y"], name="both"),
    ]
    weights = {"W": np.array([10, 20], np.float32)}
    return model_of(nodes, [info("X", ["n", 2])], [info("Y", ["n", 2])], weights, name="squares")


def many_muls(count: int, size: int = 8) -> bytes:
    """Y = X times ``count`` different constants, one after another, with an Add between every two."""
    nodes, weights, last = [], {}, "X"
    for index in range(count):
        weights[f"W{index}"] = np.linspace(0.5, 1.5 + index / count, size, dtype=np.float32)
        nodes.append(helper.make_node("Mul", [last, f"W{index}"], [f"m{index}"], name=f"mul_{index}"))
        nodes.append(helper.make_node("Add", [f"m{index}", "one"], [f"a{index}"]))
        last = f"a{index}"
    nodes.append(helper.make_node("Identity", [last], ["Y"]))
    weights["one"] = np.ones(1, np.float32)
    return model_of(nodes, [info("X", [size])], [info("Y", [size])], weights)


def if_model() -> bytes:
    """Y = go ? X * W : X * 3, W float[2] being the outer graph's and 3 the branch's own."""

    def branch(name: str, factor: str, weights: Mapping[str, Any]) -> onnx.GraphProto:
        tensors = [numpy_helper.from_array(np.asarray(w), key) for key, w in weights.items()]
        node = helper.make_node("Mul", ["X", factor], [f"{name}_out"], name=f"{name}_mul")
        return helper.make_graph([node], name, [], [info(f"{name}_out", [2])], tensors)

    then, other = branch("then", "W", {}), branch("other", "three", {"three": np.array([3], np.float32)})
    node = helper.make_node("If", ["go"], ["Y"], name="choose", then_branch=then, else_branch=other)
    inputs = [info("X", [2]), info("go", [], TensorProto.BOOL)]
    return model_of([node], inputs, [info("Y", [2])], {"W": np.array([10, 20], np.float32)})


def loop_model() -> bytes:
    """Y = X * W ** trips, W float[2] being the outer graph's."""
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["x_in", "W"], ["x_out"], name="body_mul"),
            helper.make_node("Identity", ["go_in"], ["go_out"]),
        ],
        "body",
        [info("i", [], TensorProto.INT64), info("go_in", [], TensorProto.BOOL), info("x_in", [2])],
        [info("go_out", [], TensorProto.BOOL), info("x_out", [2])],
    )
    node = helper.make_node("Loop", ["trips", "", "X"], ["Y"], name="repeat", body=body)
    inputs = [info("trips", [], TensorProto.INT64), info("X", [2])]
    return model_of([node], inputs, [info("Y", [2])], {"W": np.array([2, 3], np.float32)})


def attributes_model() -> bytes:
    """One node Everything of the domain "made.up", with an attribute of each kind, and a left-out input."""
    tensor = numpy_helper.from_array(np.array([[1, 2]], np.int16), "t")
    node = helper.make_node(
        "Everything",
        ["X", "", "Z"],
        ["Y"],
        name="everything",
        domain="made.up",
        an_int=-7,
        a_float=0.5,
        a_text="äöü",
        ints=[1, 2, 3],
        floats=[0.25, 4.0],
        texts=["one", "", "three"],
        a_tensor=tensor,
        raw_text=b"\xff\xfe",
    )
    return model_of([node], [info("X", [2]), info("Z", ["n", None])], [info("Y", [2])], domains={"made.up": 1})
