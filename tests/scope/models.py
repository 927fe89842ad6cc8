"""Models whose weights lie in other files, in every place where a model may have weights."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import onnx
from onnx import TensorProto, helper

__all__ = ["PLACES", "external", "model_of"]


def external(location: str, *, name: str = "W", size: int = 24) -> TensorProto:
    """A float[size / 4] whose data is the start of another file."""
    tensor = TensorProto(name=name, data_type=TensorProto.FLOAT, dims=[size // 4])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=value)
    return tensor


def model_of(*initializers: TensorProto, nodes: Iterable[onnx.NodeProto] = ()) -> onnx.ModelProto:
    """Y = X + W (where there is a W), and whatever else."""
    shape = [6]
    own = [helper.make_node("Add", ["X", initializers[0].name if initializers else "X"], ["Y"])]
    graph = helper.make_graph(
        [*own, *nodes],
        "graph",
        [helper.make_tensor_value_info("X", TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info("Y", TensorProto.FLOAT, shape)],
        list(initializers),
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _node(**attributes: object) -> onnx.NodeProto:
    return helper.make_node("Made", ["X"], ["Z"], domain="made.up", **attributes)


def _graph(tensor: TensorProto, nodes: Iterable[onnx.NodeProto] = ()) -> onnx.GraphProto:
    return helper.make_graph(list(nodes), "sub", [], [], [tensor])


def _sparse(tensor: TensorProto) -> onnx.SparseTensorProto:
    indices = helper.make_tensor("indices", TensorProto.INT64, [1], [0])
    return onnx.SparseTensorProto(values=tensor, indices=indices, dims=[100])


def _sparse_initializer(tensor: TensorProto) -> onnx.ModelProto:
    model = model_of()
    model.graph.sparse_initializer.append(_sparse(tensor))
    return model


def _function(tensor: TensorProto) -> onnx.ModelProto:
    model = model_of()
    model.functions.append(
        helper.make_function("made.up", "F", ["a"], ["b"], [_node(value=tensor)], [helper.make_opsetid("", 17)])
    )
    return model


def _function_default(tensor: TensorProto) -> onnx.ModelProto:
    model = _function(helper.make_tensor("inside", TensorProto.FLOAT, [1], [1.0]))
    model.functions[0].attribute_proto.append(helper.make_attribute("value", tensor))
    return model


def _training(tensor: TensorProto) -> onnx.ModelProto:
    model = model_of()
    model.training_info.add(initialization=_graph(tensor), algorithm=helper.make_graph([], "empty", [], []))
    return model


#: Each puts a tensor in another place of a model.
PLACES: dict[str, Callable[[TensorProto], onnx.ModelProto]] = {
    "initializer": model_of,
    "sparse initializer": _sparse_initializer,
    "attribute": lambda tensor: model_of(nodes=[_node(value=tensor)]),
    "attribute with several": lambda tensor: model_of(nodes=[_node(values=[tensor, tensor])]),
    "sparse attribute": lambda tensor: model_of(nodes=[_node(value=_sparse(tensor))]),
    "subgraph": lambda tensor: model_of(nodes=[_node(body=_graph(tensor))]),
    "one of several subgraphs": lambda tensor: model_of(nodes=[_node(bodies=[_graph(tensor)])]),
    "subgraph of a subgraph": lambda tensor: model_of(
        nodes=[_node(body=_graph(helper.make_tensor("t", 1, [1], [1.0]), [_node(then=_graph(tensor))]))]
    ),
    "function": _function,
    "default of a function's attribute": _function_default,
    "training": _training,
}
