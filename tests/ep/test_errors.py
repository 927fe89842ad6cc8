"""Whatever a method of an execution provider does, the application gets an exception that says so, or a result."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ortcache.ep import Ep
from ortcache.errors import OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import PlainMul, ep_session, make_ep, multiply
from ..support.ep_models import many_muls, mul_graph

MODEL = mul_graph(1, [2], [2], [2])
FEEDS = {"A": np.array([1, 2], np.float32), "B": np.array([3, 4], np.float32)}


class UnprintableError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no text")


ERRORS = [
    ValueError("it cannot be"),
    KeyError(),
    UnprintableError(),
    KeyboardInterrupt("stop"),
    SystemExit(3),
    GeneratorExit("gone"),
    RecursionError("too deep"),
    MemoryError(),
    OSError(28, "No space left on device"),
    Exception("a NUL \0, a lone surrogate \ud800, \u4e2d\u6587"),
    Exception("x" * 100_000),
]


def _raising(error: BaseException) -> Callable[..., Any]:
    def function(*_args: Any) -> Any:
        raise error

    return function


def _kernel(compute: Any, **members: Any) -> Any:
    return type("TestKernel", (), {"compute": compute, **members})()


def _fails(rt: Runtime, ep: type[Ep], error: BaseException) -> OrtError:
    with pytest.raises(OrtError) as caught, ep_session(rt, ep, MODEL) as session:
        session.set_ep_dynamic_options({"ep.dynamic.workload_type": "Default"})
        session.run(FEEDS)
    assert caught.value.__cause__ is error
    return caught.value


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize(
    "method", ["__init__", "get_capability", "compile", "on_run_start", "on_run_end", "set_dynamic_options"]
)
def test_what_a_method_raises_is_the_cause_of_the_failure(rt: Runtime, method: str, error: BaseException) -> None:
    _fails(rt, make_ep(**{method: _raising(error)}), error)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("method", ["compute", "create_state", "function"])
def test_what_a_kernel_raises_is_the_cause_of_the_failure(rt: Runtime, method: str, error: BaseException) -> None:
    if method == "function":
        kernel: Any = _raising(error)
    elif method == "compute":
        kernel = _kernel(_raising(error))
    else:
        kernel = _kernel(lambda self, context: multiply(context), create_state=_raising(error))
    _fails(rt, make_ep(compile=lambda self, graph, node: kernel), error)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_supports_raises_is_the_cause_of_the_failed_registration(rt: Runtime, error: BaseException) -> None:
    ep = make_ep(supports=_raising(error))
    with pytest.raises(OrtError) as caught:
        rt.register_ep(ep)
    assert caught.value.__cause__ is error
    rt.register_ep(make_ep(name=ep.name))  # the name is free
    rt.unregister_ep_library(ep.name)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_what_is_raised_while_releasing_is_logged_and_breaks_nothing(
    rt: Runtime, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    kernel = _kernel(lambda self, context: multiply(context), release_state=_raising(error))
    ep = make_ep(close=_raising(error), compile=lambda self, graph, node: kernel)
    with caplog.at_level(logging.ERROR, "ortcache.ep"), ep_session(rt, ep, MODEL) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], [3, 8])
    records = [record for record in caplog.records if record.name == "ortcache.ep"]
    assert [record.getMessage() for record in records] == [
        records[0].getMessage(),
        f"closing {ep.name} failed",
    ]
    assert records[0].getMessage().startswith("releasing the state of ")
    assert all(record.exc_info is not None and record.exc_info[1] is error for record in records)


@pytest.mark.parametrize("answer", [None, 1, 1 << 100, "text", b"bytes", [], object()])
def test_what_is_no_kernel_fails_the_session(rt: Runtime, answer: Any) -> None:
    ep = make_ep(compile=lambda self, graph, node: answer)
    with pytest.raises(OrtError, match=r"must give a kernel .* something with a method compute") as caught:
        with ep_session(rt, ep, MODEL):
            pass
    assert isinstance(caught.value.__cause__, TypeError)


@pytest.mark.parametrize("answer", [0, 1 << 100, "text", np.ones(2, np.float32), False])
def test_a_kernel_that_returns_something_fails_the_run(rt: Runtime, answer: Any) -> None:
    def kernel(context: Any) -> Any:
        multiply(context)
        return answer

    with ep_session(rt, make_ep(compile=lambda self, graph, node: kernel), MODEL) as session:
        with pytest.raises(OrtError, match=r"must write its outputs with context\.output .* and return nothing"):
            session.run(FEEDS)


def test_a_kernel_that_writes_no_output_fails_the_run(rt: Runtime) -> None:
    with ep_session(rt, make_ep(compile=lambda self, graph, node: lambda context: None), MODEL) as session:
        with pytest.raises(OrtError, match="did not write output 0"):
            session.run(FEEDS)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (1, "must give None or two dicts"),
        ("text", "must give None or two dicts"),
        (({},), "must give None or two dicts"),
        ({}, "must give None or two dicts"),
        (({"": "x"}, {}), "a key is empty"),
        (({"a": 3}, {}), "must be a str, not int"),
        (({}, {"a\0": "x"}), "holds a NUL"),
    ],
)
def test_an_offer_that_cannot_be_fails_the_registration(rt: Runtime, answer: Any, said: str) -> None:
    with pytest.raises(OrtError, match=said):
        rt.register_ep(make_ep(supports=classmethod(lambda cls, device: answer)))


@pytest.mark.parametrize("method", ["get_capability", "compile"])
def test_a_method_that_is_not_there_is_named(rt: Runtime, method: str) -> None:
    ep = make_ep(**{method: getattr(Ep, method)})
    with pytest.raises(OrtError, match=f"{ep.name} must define {method}"), ep_session(rt, ep, MODEL):
        pass


def test_a_failed_compilation_leaves_nothing_behind(rt: Runtime) -> None:
    compiled: list[str] = []

    def compile(self: Any, graph: Any, node: Any) -> Any:
        compiled.append(graph.nodes[0].name)
        if len(compiled) == 3:
            raise ValueError("the third is too much")
        return multiply

    with pytest.raises(OrtError, match="the third is too much"):
        with ep_session(rt, make_ep(compile=compile), many_muls(5)):
            pass
    assert len(compiled) == 3  # and conftest looks for what is left


def test_a_run_after_a_failed_one_succeeds(rt: Runtime) -> None:
    fail = [True]

    def kernel(context: Any) -> None:
        if fail.pop():
            raise ValueError("once")
        multiply(context)

    ep = make_ep(PlainMul, compile=lambda self, graph, node: kernel)
    with ep_session(rt, ep, MODEL) as session:
        with pytest.raises(OrtError, match="once"):
            session.run(FEEDS)
        fail.append(False)
        np.testing.assert_array_equal(session.run(FEEDS)[0], [3, 8])
