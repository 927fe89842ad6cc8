"""Models of a few nodes, made with the onnx package: whatever a test of runs and values wants."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = [
    "Node",
    "TensorProto",
    "constant",
    "helper",
    "identity",
    "model",
    "of_type",
    "optional",
    "sequence",
    "tensor",
]

Node = helper.make_node


def model(
    nodes: Sequence[Any],
    inputs: Sequence[Any],
    outputs: Sequence[Any],
    initializers: Sequence[Any] = (),
    opset: int = 21,
) -> bytes:
    """A model's bytes."""
    graph = helper.make_graph(list(nodes), "test", list(inputs), list(outputs), list(initializers))
    domains = [helper.make_opsetid("", opset), helper.make_opsetid("com.microsoft", 1)]
    return bytes(helper.make_model(graph, opset_imports=domains, ir_version=10).SerializeToString())


def tensor(name: str, shape: Sequence[Any] | None, kind: int = TensorProto.FLOAT) -> Any:
    """An input or output: a dimension is an int, a name or None; without a shape the rank is open."""
    return helper.make_tensor_value_info(name, kind, shape)


def of_type(name: str, type_proto: Any) -> Any:
    """An input or output of any type."""
    return helper.make_value_info(name, type_proto)


def sequence(kind: int = TensorProto.FLOAT, shape: Sequence[Any] | None = None) -> Any:
    """The type of a sequence of tensors."""
    return helper.make_sequence_type_proto(helper.make_tensor_type_proto(kind, shape))


def optional(contained: Any = None) -> Any:
    """The type of an optional; of a float tensor where nothing else is said."""
    return helper.make_optional_type_proto(contained or helper.make_tensor_type_proto(TensorProto.FLOAT, None))


def constant(name: str, value: Any, dtype: Any = None) -> onnx.TensorProto:
    """An initializer."""
    return numpy_helper.from_array(np.asarray(value, dtype), name)


def identity(kind: int = TensorProto.FLOAT, shape: Sequence[Any] | None = ("n",), opset: int = 21) -> bytes:
    """y = x."""
    return model([Node("Identity", ["x"], ["y"])], [tensor("x", shape, kind)], [tensor("y", shape, kind)], opset=opset)
