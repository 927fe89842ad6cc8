"""Which nodes an execution provider takes, and how they are put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ortcache.ep import Graph, KernelContext, Node
from ortcache.errors import InputError, OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import PlainMul, ep_session, make_ep
from ..support.ep_models import squares_model

X = np.array([[1, 2], [3, -4]], np.float32)
Y = (X * X) * (X * np.array([10, 20], np.float32))


def test_nodes_given_one_by_one_are_compiled_one_by_one(rt: Runtime) -> None:
    compiled: list[tuple[str, int]] = []

    def compile(self: Any, graph: Graph, node: Node) -> Any:
        (inner,) = graph.nodes
        compiled.append((inner.name, len(node.inputs)))
        index = [graph.inputs.index(value) for value in inner.inputs]

        def kernel(context: KernelContext) -> None:
            left, right = (context.input(i) for i in index)
            np.multiply(left, right, out=context.output(0, left.shape))

        return kernel

    with ep_session(rt, make_ep(compile=compile), squares_model()) as session:
        np.testing.assert_array_equal(session.run({"X": X})[0], Y)
    assert sorted(compiled) == [("both", 2), ("square", 1), ("weigh", 2)]


def test_nodes_given_in_a_list_are_compiled_together(rt: Runtime) -> None:
    seen: list[Any] = []

    def get_capability(self: Any, graph: Graph) -> Any:
        return [[node for node in graph.nodes if node.op_type == "Mul"]]

    def compile(self: Any, graph: Graph, node: Node) -> Any:
        names = [value.name for value in node.inputs if value]
        assert names == [value.name for value in graph.inputs]
        seen.append(([n.name for n in graph.nodes], names, [value.name for value in node.outputs if value]))

        def kernel(context: KernelContext) -> None:
            x, w = (context.input(names.index(name)) for name in ("X", "W"))
            context.output(0, x.shape)[...] = (x * x) * (x * w)

        return kernel

    with ep_session(rt, make_ep(get_capability=get_capability, compile=compile), squares_model()) as session:
        np.testing.assert_array_equal(session.run({"X": X})[0], Y)
    ((nodes, inputs, outputs),) = seen
    assert sorted(nodes) == ["both", "square", "weigh"]
    assert (sorted(inputs), outputs) == (["W", "X"], ["Y"])


def test_what_is_not_taken_is_left_to_the_cpu(rt: Runtime) -> None:
    compiled: list[str] = []

    def get_capability(self: Any, graph: Graph) -> Any:
        return (node for node in graph.nodes if node.name == "weigh")  # any iterable will do

    def compile(self: Any, graph: Graph, node: Node) -> Any:
        compiled.append(graph.nodes[0].name)
        return PlainMul.compile(self, graph, node)

    with ep_session(rt, make_ep(get_capability=get_capability, compile=compile), squares_model()) as session:
        np.testing.assert_array_equal(session.run({"X": X})[0], Y)
    assert compiled == ["weigh"]


@pytest.mark.parametrize("nothing", [[], (), [[]], iter(())])
def test_an_execution_provider_may_take_nothing(rt: Runtime, nothing: Any) -> None:
    def compile(self: Any, graph: Graph, node: Node) -> Any:
        raise AssertionError("nothing was taken")

    ep = make_ep(get_capability=lambda self, graph: nothing, compile=compile)
    with ep_session(rt, ep, squares_model()) as session:
        np.testing.assert_array_equal(session.run({"X": X})[0], Y)


@pytest.mark.parametrize(
    ("choose", "error", "said"),
    [
        (lambda graph: None, TypeError, "must give a list of nodes and lists of nodes, not None"),
        (lambda graph: 1 << 80, TypeError, "not int"),
        (lambda graph: "nodes", TypeError, "not str"),
        (lambda graph: graph.nodes[0], TypeError, "not Node"),
        (lambda graph: [graph.nodes[0].name], TypeError, "gave str among the nodes"),
        (lambda graph: [None], TypeError, "gave None among the nodes"),
        (lambda graph: [[graph.nodes[0], 3]], TypeError, "gave int among the nodes"),
        (lambda graph: [graph.nodes[0], [graph.nodes[1], graph.nodes[0]]], InputError, "gave <Node .*> twice"),
    ],
)
def test_an_answer_that_cannot_be_fails_the_session(rt: Runtime, choose: Any, error: Any, said: str) -> None:
    ep = make_ep(get_capability=lambda self, graph: choose(graph))
    with pytest.raises(OrtError, match=said) as caught, ep_session(rt, ep, squares_model()):
        pass
    assert isinstance(caught.value.__cause__, error)
    assert ep.__name__ in str(caught.value)


def test_a_node_of_an_earlier_call_is_refused(rt: Runtime) -> None:
    kept: list[Node] = []

    def get_capability(self: Any, graph: Graph) -> Any:
        nodes = list(kept) or list(graph.nodes)
        kept.extend(graph.nodes)
        return nodes

    ep = make_ep(get_capability=get_capability)
    with pytest.raises(OrtError) as caught:
        for _ in range(2):
            with ep_session(rt, ep, squares_model()):
                pass
    assert isinstance(caught.value.__cause__, InputError)
    assert "of another graph or call" in str(caught.value)
