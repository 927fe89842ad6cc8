"""Execution providers for tests: one that multiplies, and ways to make others out of a few functions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ortcache.api.device import EpDevice
from ortcache.ep import Ep, Graph, KernelContext, Node
from ortcache.runtime import Runtime
from ortcache.session import Session

__all__ = ["PlainMul", "ep_session", "make_ep", "multiply", "registered"]

_numbers = itertools.count(1)


def multiply(context: KernelContext) -> None:
    """A kernel for one Mul of two inputs."""
    left, right = context.inputs
    np.multiply(left, right, out=context.output(0, np.broadcast_shapes(left.shape, right.shape)))


class PlainMul(Ep):
    """Takes every Mul, one by one."""

    name = "PlainMul"
    vendor = "tests"
    version = "1.2.3"
    vendor_id = 0xBEEF

    def get_capability(self, graph: Graph) -> Iterable[Node]:
        return [node for node in graph.nodes if node.op_type == "Mul"]

    def compile(self, graph: Graph, node: Node) -> Any:
        return multiply


def make_ep(base: type[Ep] = PlainMul, **members: Any) -> type[Ep]:
    """A subclass with a name of its own and these members."""
    members.setdefault("name", f"TestEp{next(_numbers)}")
    return type(members["name"], (base,), members)


@contextmanager
def registered(rt: Runtime, *classes: type[Ep]) -> Iterator[list[EpDevice]]:
    """The devices of these classes, registered within the block."""
    devices = rt.register_ep(*classes)
    name = classes[0].name
    try:
        yield devices
    finally:
        rt.unregister_ep_library(name)


@contextmanager
def ep_session(
    rt: Runtime, ep: type[Ep] | list[EpDevice], model: Any, options: Mapping[str, object] | None = None, **settings: Any
) -> Iterator[Session]:
    """A session over one class, which is registered for it, or over devices that are there."""
    if not isinstance(ep, list):
        with registered(rt, ep) as devices, ep_session(rt, devices, model, options, **settings) as session:
            yield session
        return
    settings.setdefault("intra_op_num_threads", 1)
    with rt.session_options(**settings) as session_options:
        session_options.append_ep(ep, options)
        with rt.session(model, session_options) as session:
            yield session
