"""What a session says of its inputs and outputs: as the official module says it, and more."""

from __future__ import annotations

import ctypes

import onnxruntime
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.element import element
from ortcache.api.typeinfo import Kind, TypeInfo, read_tensor_info

from ..support.graphs import Node, TensorProto, constant, identity, model, of_type, optional, sequence, tensor
from ..support.installed import dataset

_ANY = sequence(TensorProto.INT64)
MODELS = {
    "fixed": identity(TensorProto.FLOAT, [2, 3]),
    "named": identity(TensorProto.INT64, ["batch", 3, "länge"]),
    "open": identity(TensorProto.BOOL, [None, 3, None]),
    "0-d": identity(TensorProto.DOUBLE, []),
    "zero": identity(TensorProto.FLOAT, [0, 3]),
    "no rank": identity(TensorProto.STRING, None),
    "bfloat16": identity(TensorProto.BFLOAT16, [1]),
    "sequence": model([Node("Identity", ["x"], ["y"])], [of_type("x", _ANY)], [of_type("y", _ANY)]),
    "optional": model([Node("Identity", ["x"], ["y"])], [of_type("x", optional())], [of_type("y", optional())]),
    "optional sequence": model(
        [Node("Identity", ["x"], ["y"])], [of_type("x", optional(_ANY))], [of_type("y", optional(_ANY))]
    ),
    "several": model(
        [Node("Add", ["a", "w"], ["s"]), Node("Mul", ["b", "b"], ["p"])],
        [tensor("b", ["n"]), tensor("a", [2])],
        [tensor("p", ["n"]), tensor("s", [2])],
        [constant("w", [1, 2], "f4")],
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_names_types_and_shapes_are_the_official_modules(rt: oc.Runtime, name: str) -> None:
    official = onnxruntime.InferenceSession(MODELS[name])
    with rt.session(MODELS[name]) as session:
        for ours, theirs in ((session.inputs, official.get_inputs()), (session.outputs, official.get_outputs())):
            assert [(info.name, info.type) for info in ours] == [(info.name, info.type) for info in theirs]
            assert [info.shape or [] for info in ours] == [info.shape for info in theirs]


@pytest.mark.parametrize("name", ["mul_1.onnx", "logreg_iris.onnx", "sigmoid.onnx"])
def test_they_are_so_for_models_that_others_made(rt: oc.Runtime, name: str) -> None:
    path = dataset(name)
    official = onnxruntime.InferenceSession(path)
    with rt.session(path) as session:
        for ours, theirs in ((session.inputs, official.get_inputs()), (session.outputs, official.get_outputs())):
            assert [(i.name, i.type, i.shape or []) for i in ours] == [(i.name, i.type, i.shape) for i in theirs]


def test_a_rank_that_is_open_is_not_rank_0(rt: oc.Runtime) -> None:
    found = {name: rt.session(MODELS[name]).inputs[0].shape for name in ("0-d", "no rank", "sequence")}
    assert found == {"0-d": [], "no rank": None if rt.api.raw.holds("TensorTypeAndShape_HasShape") else [],
                     "sequence": None}  # fmt: skip


def test_initializers_that_a_feed_may_replace_are_listed(rt: oc.Runtime) -> None:
    nodes = [Node("Add", ["x", "w"], ["y"])]
    data = model(nodes, [tensor("x", [2]), tensor("w", [2])], [tensor("y", [2])], [constant("w", [1, 2], "f4")])
    with rt.session(data) as session:
        assert [info.name for info in session.inputs] == ["x"]
        assert [(info.name, info.type, info.shape) for info in session.overridable_initializers] == [
            ("w", "tensor(float)", [2])
        ]


@pytest.mark.parametrize(
    ("info", "text"),
    [
        (TypeInfo(Kind.ONNX_TYPE_TENSOR, element(16)), "tensor(bfloat16)"),
        (TypeInfo(Kind.ONNX_TYPE_TENSOR, None), "tensor(?)"),
        (TypeInfo(Kind.ONNX_TYPE_SPARSETENSOR, element(1)), "sparse_tensor(float)"),
        (TypeInfo(Kind.ONNX_TYPE_SEQUENCE, contained=TypeInfo(1, element(8))), "seq(tensor(string))"),
        (TypeInfo(Kind.ONNX_TYPE_MAP, element(8), contained=TypeInfo(1, element(1))), "map(string,tensor(float))"),
        (TypeInfo(Kind.ONNX_TYPE_OPTIONAL, contained=TypeInfo(1, element(9))), "optional(tensor(bool))"),
        (TypeInfo(Kind.ONNX_TYPE_OPAQUE), "opaque"),
    ],
)
def test_types_as_text(info: TypeInfo, text: str) -> None:
    assert str(info) == text


def test_an_element_type_that_is_not_known_is_not_an_error_yet(rt: oc.Runtime) -> None:
    info = ctypes.POINTER(raw.OrtTensorTypeAndShapeInfo)()
    rt.api.CreateTensorTypeAndShapeInfo(ctypes.byref(info))
    try:
        rt.api.SetTensorElementType(info, 0)  # as a newer library's is: none of those that are known
        rt.api.SetDimensions(info, (ctypes.c_int64 * 2)(2, 3), 2)
        assert read_tensor_info(rt.native, info) == (None, (2, 3))
    finally:
        rt.api.ReleaseTensorTypeAndShapeInfo(info)
