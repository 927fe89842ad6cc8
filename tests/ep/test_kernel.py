"""What a kernel reads and writes: every element type, optional and left-out inputs, outputs that ORT allocates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest

from ortcache.ep import KernelContext, instances
from ortcache.errors import ClosedError, InputError, OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import ep_session, make_ep, multiply
from ..support.ep_models import info, model_of, mul_graph

MODEL = mul_graph(1, ["n"], ["n"], ["n"])
FEEDS = {"A": np.array([1, 2], np.float32), "B": np.array([3, 4], np.float32)}


def one_kernel(kernel: Callable[[KernelContext], None], op_type: str = "Mul", **members: Any) -> Any:
    """An execution provider that takes each node of one operator, and runs this for it."""
    return make_ep(
        get_capability=lambda self, graph: [node for node in graph.nodes if node.op_type == op_type],
        compile=lambda self, graph, node: kernel,
        **members,
    )


def run(rt: Runtime, kernel: Callable[[KernelContext], None], model: bytes = MODEL, feeds: Any = FEEDS) -> list[Any]:
    (op_type,) = {node.op_type for node in onnx.load_from_string(model).graph.node}
    with ep_session(rt, one_kernel(kernel, op_type), model) as session:
        return session.run(feeds)


def identity(kind: int) -> bytes:
    node = onnx.helper.make_node("Identity", ["X"], ["Y"])
    return model_of([node], [info("X", None, kind)], [info("Y", None, kind)], opset=21)


ARRAYS = [
    np.array([[1.5, -0.0, np.nan], [np.inf, 3, 1e-45]], np.float32),
    np.array([1.5, -2], np.float64),
    np.array([1.5, -2], np.float16),
    np.array([1.5, -2], ml_dtypes.bfloat16),
    np.array([-1, 127], np.int8),
    np.array([255, 0], np.uint8),
    np.array([-1, 2], np.int16),
    np.array([65535, 2], np.uint16),
    np.array([-1, 2], np.int32),
    np.array([2**32 - 1], np.uint32),
    np.array([-(2**63), 2**63 - 1], np.int64),
    np.array([2**64 - 1], np.uint64),
    np.array([True, False]),
    np.array([["ä", ""], ["long " * 20, "z"]], object),
    np.array(7, np.int32),
    np.empty((0, 3), np.float32),
    np.array([1.5, -2], ml_dtypes.float8_e4m3fn),
    np.array([1, -8, 7], ml_dtypes.int4),
]


def _code(array: Any) -> int:
    return onnx.TensorProto.STRING if array.dtype == object else onnx.helper.np_dtype_to_tensor_dtype(array.dtype)


def _facts(array: Any) -> Any:
    return array.dtype, array.shape, array.tolist() if array.dtype == object else array.tobytes()


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{list(array.shape)}")
def test_each_element_type_comes_and_goes(rt: Runtime, array: Any) -> None:
    seen: list[Any] = []

    def kernel(context: KernelContext) -> None:
        seen.append(context.input(0).copy())
        context.set_output(0, context.input(0))

    (result,) = run(rt, kernel, identity(_code(array)), {"X": array})
    (given,) = seen
    assert _facts(given) == _facts(result) == _facts(array)


def test_inputs_are_views_of_the_feeds_and_cannot_be_written(rt: Runtime) -> None:
    addresses: list[int] = []

    def kernel(context: KernelContext) -> None:
        left, right = context.inputs
        addresses.extend(value.ctypes.data for value in (left, right))
        for value in (left, right):
            with pytest.raises(ValueError, match="read-only"):
                value[0] = 5
        multiply(context)

    values = {name: rt.value(np.ones(100_000, np.float32)) for name in ("A", "B")}
    with ep_session(rt, one_kernel(kernel), MODEL) as session:
        session.run(values)
        assert addresses == [value.numpy().ctypes.data for value in values.values()]


def test_outputs_are_views_of_what_the_session_gives(rt: Runtime) -> None:
    addresses: list[int] = []

    def kernel(context: KernelContext) -> None:
        out = context.output(0, [3], np.float32)
        out[:] = [7, 8, 9]
        addresses.append(out.ctypes.data)

    with ep_session(rt, one_kernel(kernel), MODEL) as session:
        with session.bind(FEEDS, {"C": None}) as bound:
            bound.run()
            result = bound.outputs["C"]
        assert result.tolist() == [7, 8, 9]
        assert addresses == [result.ctypes.data]


@pytest.mark.parametrize("text", [np.array(["a", "b"], object), np.array(["a", "b"]), ["a", "b"]])
def test_text_is_written_whole(rt: Runtime, text: Any) -> None:
    model = identity(onnx.TensorProto.STRING)
    (result,) = run(rt, lambda context: context.set_output(0, text), model, {"X": np.array(["x"], object)})
    assert result.tolist() == ["a", "b"]


def test_numbers_become_what_the_output_is(rt: Runtime) -> None:
    assert run(rt, lambda context: context.set_output(0, [[1, 2], [3, 4]]))[0].tolist() == [[1, 2], [3, 4]]
    assert run(rt, lambda context: context.set_output(0, 5))[0].shape == ()


@pytest.mark.parametrize(
    ("use", "error", "said"),
    [
        (lambda c: c.input(2), IndexError, "there is no input 2: the kernel has 2"),
        (lambda c: c.input(-1), IndexError, "there is no input -1"),
        (lambda c: c.input(1 << 70), IndexError, "there is no input"),
        (lambda c: c.output(1, [2]), IndexError, "there is no output 1: the kernel has 1"),
        (lambda c: c.output(0, [2], np.int64), InputError, "whose dtype is float32, not int64"),
        (lambda c: c.output(0, [-2]), OrtError, "Run: "),
        (lambda c: c.output(0, ["two"]), ValueError, "invalid literal"),
        (lambda c: c.output(0, None), TypeError, "not iterable"),
        (lambda c: c.set_output(0, np.array([1, 2], np.int64)), InputError, r"must be tensor\(float\)"),
        (lambda c: c.set_output(0, None), InputError, "float"),
    ],
)
def test_a_wrong_use_fails_the_run(rt: Runtime, use: Any, error: Any, said: str) -> None:
    with pytest.raises(OrtError, match=said) as caught:
        run(rt, lambda context: use(context) and None)
    assert isinstance(caught.value.__cause__, error)


def test_text_cannot_be_written_in_place(rt: Runtime) -> None:
    model = identity(onnx.TensorProto.STRING)
    with pytest.raises(OrtError, match="which numpy cannot write in place: use set_output"):
        run(rt, lambda c: c.output(0, [1]) and None, model, {"X": np.array(["x"], object)})


def test_a_left_out_input_is_none(rt: Runtime) -> None:
    node = onnx.helper.make_node("Clip", ["X", "", "high"], ["Y"])
    model = model_of([node], [info("X", [3]), info("high", [])], [info("Y", [3])])
    seen: list[Any] = []

    def kernel(context: KernelContext) -> None:
        seen.append((context.input_count, context.output_count, [value is None for value in context.inputs]))
        context.set_output(0, np.minimum(context.input(0), context.inputs[-1]))

    (result,) = run(rt, kernel, model, {"X": np.array([1, 2, 3], np.float32), "high": np.array(2, np.float32)})
    assert result.tolist() == [1, 2, 2]
    assert seen[0][0] == len(seen[0][2]) and seen[0][1] == 1


def test_a_sequence_is_a_list(rt: Runtime) -> None:
    sequence = onnx.helper.make_tensor_sequence_value_info("S", onnx.TensorProto.FLOAT, None)
    node = onnx.helper.make_node("ConcatFromSequence", ["S"], ["Y"], axis=0)
    model = model_of([node], [sequence], [info("Y", None)])
    parts = [np.array([1, 2], np.float32), np.array([3], np.float32)]
    (result,) = run(rt, lambda c: c.set_output(0, np.concatenate(c.input(0))), model, {"S": parts})
    assert result.tolist() == [1, 2, 3]


def test_a_context_is_dead_after_the_run(rt: Runtime) -> None:
    kept: list[KernelContext] = []

    def kernel(context: KernelContext) -> None:
        kept.append(context)
        multiply(context)

    run(rt, kernel)
    (context,) = kept
    uses: list[Callable[[], Any]] = [
        lambda: context.inputs,
        lambda: context.input(0),
        lambda: context.output(0, [2]),
        lambda: context.set_output(0, 1),
    ]
    for use in uses:
        with pytest.raises(ClosedError, match="valid only during the run"):
            use()


def test_a_kernel_has_a_state_for_each_session(rt: Runtime) -> None:
    log: list[str] = []

    class Kernel:
        def create_state(self) -> list[int]:
            log.append("create")
            return []

        def compute(self, context: KernelContext) -> None:
            context.state.append(len(context.state))
            log.append(f"compute {context.state}")
            multiply(context)

        def release_state(self, state: list[int]) -> None:
            log.append(f"release {state}")

    ep = make_ep(compile=lambda self, graph, node: Kernel(), close=lambda self: log.append("close"))
    with ep_session(rt, ep, MODEL) as session:
        assert log == ["create"] and len(instances(ep)) == 1
        session.run(FEEDS)
        session.run(FEEDS)
    assert log == ["create", "compute [0]", "compute [0, 1]", "release [0, 1]", "close"]


def test_a_kernel_without_a_state_has_none(rt: Runtime) -> None:
    states: list[Any] = []

    def kernel(context: KernelContext) -> None:
        states.append(context.state)
        multiply(context)

    run(rt, kernel)
    assert states == [None]


def test_constant_initializers_are_inputs_or_are_dropped(rt: Runtime) -> None:
    model = mul_graph(1, [2], [2], [2], constant_b=np.array([10, 20], np.float32))
    for drop in (False, True):
        seen: list[Any] = []

        def compile(self: Any, graph: Any, node: Any, seen: list[Any] = seen) -> Any:
            weight = graph.nodes[0].inputs[1]
            seen.append(([value.name for value in graph.inputs], [v.name for v in node.inputs], weight.initializer()))
            constant = seen[0][2]

            def kernel(context: KernelContext) -> None:
                seen.append(context.input_count)
                context.set_output(0, context.input(0) * constant)

            return kernel

        ep = make_ep(compile=compile, drop_constant_initializers=drop)
        with ep_session(rt, ep, model) as session:
            assert session.run({"A": FEEDS["A"]})[0].tolist() == [10, 40]
        names = ["A"] if drop else ["A", "B"]
        assert seen[0][:2] == (names, names) and seen[0][2].tolist() == [10, 20] and seen[1] == len(names)
