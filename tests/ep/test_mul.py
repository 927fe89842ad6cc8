"""The example multiplies as the CPU provider does, to the bit: every type, every shape, anywhere in a model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from ortcache.api.device import EpDevice
from ortcache.api.session import Session
from ortcache.ep import MulEp, instances
from ortcache.errors import InputError, OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import ep_session, registered
from ..support.ep_models import if_model, info, loop_model, many_muls, model_of, mul_graph, squares_model

TYPES = [
    np.float32, np.float64, np.float16, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64
]  # fmt: skip


@pytest.fixture
def devices(rt: Runtime) -> Iterator[list[EpDevice]]:
    with registered(rt, MulEp) as found:
        yield found


def bits(array: Any) -> Any:
    return array.dtype, array.shape, array.tobytes()


def any_bits(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> Any:
    """An array of random bits: of the floats infinities, denormals and every NaN are among them."""
    size = int(np.prod(shape))
    return np.frombuffer(np.random.default_rng(seed).bytes(size * np.dtype(dtype).itemsize), dtype).reshape(shape)


def same_as_cpu(rt: Runtime, devices: list[EpDevice], model: bytes, feeds: dict[str, Any], built: int) -> None:
    """The same outputs with the provider as without it, and so many plans built for it."""
    with rt.session(model, intra_op_num_threads=1) as session:
        expected = session.run(feeds)
    with ep_session(rt, devices, model) as session:
        assert [bits(array) for array in session.run(feeds)] == [bits(array) for array in expected]
        assert instances(MulEp)[0].outcomes["built"] == built


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: dtype.__name__)
def test_every_numeric_type(rt: Runtime, devices: list[EpDevice], dtype: Any) -> None:
    kind = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    model = mul_graph(kind, ["n"], ["n"], ["n"])
    same_as_cpu(rt, devices, model, {"A": any_bits((10_000,), dtype, 1), "B": any_bits((10_000,), dtype, 2)}, 1)


def test_bfloat16_which_the_cpu_provider_does_not_have(rt: Runtime, devices: list[EpDevice]) -> None:
    model = mul_graph(onnx.TensorProto.BFLOAT16, ["n"], ["n"], ["n"])
    left, right = (any_bits((10_000,), ml_dtypes.bfloat16, seed) for seed in (1, 2))
    with np.errstate(all="ignore"):
        exact = left.astype(np.float32) * right.astype(np.float32)  # 8 bits times 8 bits are 16: nothing is lost
        expected = exact.astype(ml_dtypes.bfloat16)
    with ep_session(rt, devices, model) as session:
        (product,) = session.run({"A": left, "B": right})
        assert product.dtype == ml_dtypes.bfloat16 and isinstance(session, Session)
    nan = np.isnan(expected)
    np.testing.assert_array_equal(np.isnan(product), nan)
    assert bits(product[~nan]) == bits(expected[~nan])


SHAPES = [
    ((), ()), ((), (3,)), ((3,), ()), ((1,), (1,)), ((1,), (4,)), ((2, 3), (2, 3)), ((2, 3), (3,)), ((2, 1), (1, 3)),
    ((2, 3, 4, 5), (3, 1, 5)), ((1, 1, 1), (4,)), ((5, 1, 4, 1), (1, 6, 1, 7)), ((0,), (1,)), ((2, 0, 3), (1, 3)),
    ((0, 3), (0, 3)), ((1,), (0,)), ((2, 3, 4), (4,)), ((8, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 9)), ((1000,), (1,)),
]  # fmt: skip


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_every_way_to_broadcast(rt: Runtime, devices: list[EpDevice], shapes: Any, static: bool) -> None:
    a, b = shapes
    declared = [list(s) if static else [f"{n}{i}" for i in range(len(s))] for n, s in zip("ab", shapes, strict=True)]
    model = mul_graph(1, declared[0], declared[1], None)
    same_as_cpu(rt, devices, model, {"A": any_bits(a, np.float32, 3), "B": any_bits(b, np.float32, 4)}, 1)


@pytest.mark.parametrize("side", ["a", "b"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_every_way_to_broadcast_a_constant(rt: Runtime, devices: list[EpDevice], shapes: Any, side: str) -> None:
    a, b = shapes
    values = {"a": any_bits(a, np.float64, 5), "b": any_bits(b, np.float64, 6)}
    model = mul_graph(11, list(a), list(b), None, **{f"constant_{side}": values[side]})
    with rt.session(model, intra_op_num_threads=1, graph_optimization_level="disable_all") as session:
        feeds = {name: value for name, value in (("A", values["a"]), ("B", values["b"])) if name != side.upper()}
        expected = session.run(feeds)
    with ep_session(rt, devices, model, graph_optimization_level="disable_all") as session:
        assert [bits(array) for array in session.run(feeds)] == [bits(array) for array in expected]
        assert len(instances(MulEp)[0].outcomes) == 2


def test_two_constants(rt: Runtime, devices: list[EpDevice]) -> None:
    model = mul_graph(1, [2], [1], [2], constant_a=np.array([2, 3], np.float32), constant_b=np.array([4], np.float32))
    with ep_session(rt, devices, model, graph_optimization_level="disable_all") as session:
        assert session.run({})[0].tolist() == [8, 12]
        assert instances(MulEp)[0].outcomes["built"] == 1


def test_one_input_twice_and_a_chain(rt: Runtime, devices: list[EpDevice]) -> None:
    same_as_cpu(rt, devices, squares_model(), {"X": any_bits((5, 2), np.float32)}, 3)


def test_an_initializer_that_is_an_input_may_be_fed(rt: Runtime, devices: list[EpDevice]) -> None:
    node = onnx.helper.make_node("Mul", ["X", "W"], ["Y"])
    model = model_of([node], [info("X", [2]), info("W", [2])], [info("Y", [2])], {"W": np.array([2, 3], np.float32)})
    x = np.array([1, -1], np.float32)
    same_as_cpu(rt, devices, model, {"X": x}, 1)
    same_as_cpu(rt, devices, model, {"X": x, "W": np.array([0.5, np.nan], np.float32)}, 1)


def test_many_nodes(rt: Runtime, devices: list[EpDevice]) -> None:
    same_as_cpu(rt, devices, many_muls(150), {"X": any_bits((8,), np.float32)}, 150)


@pytest.mark.parametrize("go", [True, False])
def test_in_the_branches_of_an_if(rt: Runtime, devices: list[EpDevice], go: bool) -> None:
    both = 2 if rt.native.library_api_version > 23 else 1  # 1.23 compiles nodes of one graph only
    same_as_cpu(rt, devices, if_model(), {"X": np.array([1, 2], np.float32), "go": np.array(go)}, both)


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_in_the_body_of_a_loop(rt: Runtime, devices: list[EpDevice], trips: int) -> None:
    same_as_cpu(rt, devices, loop_model(), {"X": np.array([1, 2], np.float32), "trips": np.array(trips)}, 1)


def test_shapes_that_change_from_run_to_run(rt: Runtime, devices: list[EpDevice]) -> None:
    model = mul_graph(1, ["n", "m"], ["m"], ["n", "m"])
    with ep_session(rt, devices, model) as session:
        for n, m in ((1, 1), (2, 3), (0, 4), (7, 1)):
            (product,) = session.run({"A": np.full((n, m), 2, np.float32), "B": np.full(m, 3, np.float32)})
            np.testing.assert_array_equal(product, np.full((n, m), 6, np.float32))
        with pytest.raises(OrtError) as caught:
            session.run({"A": np.ones((2, 3), np.float32), "B": np.ones(4, np.float32)})
        assert isinstance(caught.value.__cause__, ValueError)


def test_what_it_does_not_know_is_left_to_others(rt: Runtime, devices: list[EpDevice]) -> None:
    old = onnx.helper.make_node("Add", ["A", "B"], ["C"])
    model = model_of([old], [info("A", [2]), info("B", [2])], [info("C", [2])])
    same_as_cpu(rt, devices, model, {"A": np.ones(2, np.float32), "B": np.ones(2, np.float32)}, 0)


def test_options_are_checked(rt: Runtime, devices: list[EpDevice]) -> None:
    for options, said in (
        ({"compile_delay": "1"}, "has no option compile_delay. It has compile_delay_ms: milliseconds"),
        ({"compile_delay_ms": "soon"}, "option compile_delay_ms is 'soon': give a whole number"),
        ({"compile_delay_ms": "-1"}, "give a whole number, 0 or more"),
        ({"max_plan_bytes": "1e3"}, "option max_plan_bytes is '1e3'"),
    ):
        with pytest.raises(OrtError, match=said) as caught, ep_session(rt, devices, squares_model(), options):
            pass
        assert isinstance(caught.value.__cause__, InputError)
