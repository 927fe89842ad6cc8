"""Models for measuring."""

from __future__ import annotations

import onnx
from onnx import TensorProto, helper

__all__ = ["big_model"]


def big_model(output: str) -> bytes:
    """X float32 of any length to its first element ("small") or to -X ("big")."""
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, ["n"])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, ["n"] if output == "big" else [1])
    first = helper.make_tensor("first", TensorProto.INT64, [1], [0])
    node = (
        helper.make_node("Neg", ["X"], ["Y"]) if output == "big" else helper.make_node("Gather", ["X", "first"], ["Y"])
    )
    graph = helper.make_graph([node], "big", [x], [y], [first])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
    model.ir_version = 8
    onnx.checker.check_model(model)
    return bytes(model.SerializeToString())
