"""Small models, made with the onnx package, for what no ready one shows."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

__all__ = ["add_model", "chain_model", "external_model", "loop_model", "lora_model", "metadata_model"]


def _model(graph: onnx.GraphProto) -> onnx.ModelProto:
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def _floats(name: str, *shape: int | str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def loop_model() -> bytes:
    """Counts ``trips`` times from ``start`` to ``end``: how long it runs is up to the input."""
    body = helper.make_graph(
        [helper.make_node("Add", ["sum_in", "one"], ["sum_out"]), helper.make_node("Identity", ["go_in"], ["go_out"])],
        "body",
        [
            helper.make_tensor_value_info("i", TensorProto.INT64, []),
            helper.make_tensor_value_info("go_in", TensorProto.BOOL, []),
            _floats("sum_in", 1),
        ],
        [helper.make_tensor_value_info("go_out", TensorProto.BOOL, []), _floats("sum_out", 1)],
        [numpy_helper.from_array(np.ones(1, np.float32), "one")],
    )
    graph = helper.make_graph(
        [helper.make_node("Loop", ["trips", "", "start"], ["end"], body=body)],
        "count",
        [helper.make_tensor_value_info("trips", TensorProto.INT64, []), _floats("start", 1)],
        [_floats("end", 1)],
    )
    return _model(graph).SerializeToString()


def add_model() -> bytes:
    """Y = X + W + W: X float["batch", 2], whose first dimension is denoted DATA_BATCH; W float[2] is [10, 20]."""
    x = _floats("X", "batch", 2)
    x.type.tensor_type.shape.dim[0].denotation = "DATA_BATCH"
    graph = helper.make_graph(
        [helper.make_node("Add", ["X", "W"], ["T"]), helper.make_node("Add", ["T", "W"], ["Y"])],
        "add",
        [x],
        [_floats("Y", "batch", 2)],
        [numpy_helper.from_array(np.array([10, 20], np.float32), "W")],
    )
    return _model(graph).SerializeToString()


def chain_model() -> bytes:
    """Y = X through four Identity nodes, which an optimizer removes."""
    names = ["X", "a", "b", "c", "Y"]
    nodes = [helper.make_node("Identity", [a], [b]) for a, b in itertools.pairwise(names)]
    return _model(helper.make_graph(nodes, "chain", [_floats("X", 1)], [_floats("Y", 1)])).SerializeToString()


def external_model(file: str, size: int = 64) -> tuple[bytes, bytes]:
    """Y = X + W, W float[size] counting from 0 in another file, which is not written; gives the model and that file."""
    weights = np.arange(size, dtype=np.float32)
    tensor = numpy_helper.from_array(weights, "W")
    onnx.external_data_helper.set_external_data(tensor, location=file, offset=0, length=weights.nbytes)
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    node = helper.make_node("Add", ["X", "W"], ["Y"])
    graph = helper.make_graph([node], "external", [_floats("X", size)], [_floats("Y", size)], [tensor])
    return _model(graph).SerializeToString(), weights.tobytes()


def lora_model() -> bytes:
    """Y = X + A: A float[2] is an input that is 0 where nothing gives it."""
    graph = helper.make_graph(
        [helper.make_node("Add", ["X", "A"], ["Y"])],
        "lora",
        [_floats("X", 2), _floats("A", 2)],
        [_floats("Y", 2)],
        [numpy_helper.from_array(np.zeros(2, np.float32), "A")],
    )
    return _model(graph).SerializeToString()


def metadata_model(**custom: str) -> bytes:
    """A model that fills in every field about itself."""
    model = onnx.load_from_string(chain_model())
    model.producer_name, model.domain, model.doc_string = "prodücer", "org.example", "what the model is"
    model.graph.name, model.graph.doc_string, model.model_version = "the graph", "what the graph is", 42
    helper.set_model_props(model, custom)
    return model.SerializeToString()
