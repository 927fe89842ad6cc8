"""Models that are compiled ahead: the cache is used, and what was compiled is in the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import onnx
import pytest

from ortcache.api.device import EpDevice
from ortcache.ep import MulEp, RejectedError, instances
from ortcache.errors import OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import ep_session, make_ep, multiply, registered
from ..support.ep_models import mul_graph, squares_model

X = np.array([[1, 2], [-3, 4]], np.float32)


@pytest.fixture
def devices(rt: Runtime) -> Iterator[list[EpDevice]]:
    with registered(rt, MulEp) as found:
        yield found


def compiled(rt: Runtime, devices: list[EpDevice], model: bytes, values: Any = None) -> onnx.ModelProto:
    with rt.session_options(ep_cache=values) as options:
        options.append_ep(devices)
        result = rt.compile_model(model, options)
    assert isinstance(result, bytes)
    return onnx.load_from_string(result)


def contexts(model: onnx.ModelProto) -> list[onnx.AttributeProto]:
    return [a for node in model.graph.node for a in node.attribute if a.name == "ep_cache_context"]


def test_the_compiled_model_holds_the_plans_and_runs(rt: Runtime, devices: list[EpDevice]) -> None:
    model = compiled(rt, devices, squares_model())
    assert [node.op_type for node in model.graph.node] == ["EPContext"] * 3
    sources = {a.s for node in model.graph.node for a in node.attribute if a.name == "source"}
    assert sources == {b"MulExecutionProvider"}
    with rt.session(squares_model()) as session:
        expected = session.run({"X": X})[0]
    with ep_session(rt, devices, model.SerializeToString(), ep_cache={}) as session:
        np.testing.assert_array_equal(session.run({"X": X})[0], expected)
        assert instances(MulEp)[0].outcomes == {"context": 3}  # type: ignore[attr-defined]


def test_the_cache_is_read_and_written(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    cold = compiled(rt, devices, squares_model(), values)
    assert len(values) == 2  # two of the three nodes are alike
    entries = dict(values)
    assert [c.s for c in contexts(compiled(rt, devices, squares_model(), values))] == [c.s for c in contexts(cold)]
    assert values == entries
    with ep_session(rt, devices, squares_model(), ep_cache=values):
        assert instances(MulEp)[0].outcomes == {"hit": 3}  # type: ignore[attr-defined]


@pytest.mark.parametrize("shapes", [([2, 3], [3]), (["n", 3], [1]), ([], []), (None, ["m"])], ids=str)
def test_every_kind_of_shape_comes_back(rt: Runtime, devices: list[EpDevice], shapes: Any) -> None:
    a, b = (np.ones([2 if isinstance(n, str) else n for n in shape or ()], np.int32) * 3 for shape in shapes)
    model = compiled(rt, devices, mul_graph(6, *shapes, None))
    with ep_session(rt, devices, model.SerializeToString()) as session:
        np.testing.assert_array_equal(session.run({"A": a, "B": b})[0], a * b)


def test_a_constant_comes_back(rt: Runtime, devices: list[EpDevice]) -> None:
    constant = np.array([[1, 2], [3, 4]], np.float32)
    model = compiled(rt, devices, mul_graph(1, [2, 2], [2, 2], [2, 2], constant_a=constant))
    assert not model.graph.initializer  # the plan has it
    with ep_session(rt, devices, model.SerializeToString()) as session:
        np.testing.assert_array_equal(session.run({"B": X})[0], constant * X)


def test_damage_fails_the_session(rt: Runtime, devices: list[EpDevice]) -> None:
    model = compiled(rt, devices, mul_graph(1, [2], [2], [2], constant_b=np.array([2, 3], np.float32)))
    (attribute,) = contexts(model)
    whole = attribute.s
    for place in range(0, len(whole), 5):
        for damaged in (whole[:place], whole[:place] + bytes([whole[place] ^ 0x40]) + whole[place + 1 :]):
            attribute.s = damaged
            with pytest.raises(OrtError) as caught, ep_session(rt, devices, model.SerializeToString()):
                pass
            assert isinstance(caught.value.__cause__, RejectedError)


def test_another_version_fails_the_session(rt: Runtime, devices: list[EpDevice]) -> None:
    data = compiled(rt, devices, squares_model()).SerializeToString()
    newer = type("NewerMul", (MulEp,), {"name": "MulExecutionProvider", "version": "9.0.0"})
    rt.unregister_ep_library(MulEp.name)
    try:
        with pytest.raises(OrtError, match="made for something else"), ep_session(rt, newer, data):
            pass
    finally:
        rt.register_ep(MulEp)


@pytest.mark.parametrize(
    ("kernel", "said"),
    [
        (multiply, "needs kernels with a method ep_context, which gives bytes; the one of .*, by TestEp.*, has none"),
        (type("Text", (), {"compute": multiply, "ep_context": lambda self: "text"})(), "must give bytes, not str"),
    ],
)
def test_kernels_that_cannot_be_put_into_a_model_are_named(rt: Runtime, kernel: Any, said: str) -> None:
    with registered(rt, make_ep(compile=lambda self, graph, node: kernel)) as devices:
        with pytest.raises(OrtError, match=said):
            compiled(rt, devices, squares_model())
