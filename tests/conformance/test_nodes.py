"""ONNX's own node tests: what the official module passes passes here too, with equal outputs."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import ortcache as oc

from .nodes import Outcome, collect, compare, run_case


@pytest.fixture(scope="module")
def outcomes(library: object) -> Iterator[list[Outcome]]:
    with warnings.catch_warnings(), oc.load(log_level="fatal") as rt:
        warnings.simplefilter("ignore")  # numpy's, about the corner cases that the tests are made of
        yield [run_case(rt, case) for case in collect()]


def test_no_case_passes_only_in_the_official_module(outcomes: list[Outcome]) -> None:
    assert [outcome for outcome in outcomes if outcome.regression] == []


def test_the_cases_are_there_and_most_of_them_pass(outcomes: list[Outcome]) -> None:
    official = sum(outcome.official == "passed" for outcome in outcomes)
    ours = sum(outcome.ours == "passed" for outcome in outcomes)
    assert len(outcomes) > 1500
    assert official > 0.7 * len(outcomes)
    assert ours >= official


def test_cases_that_the_official_module_has_no_types_for_pass_here(outcomes: list[Outcome]) -> None:
    more = [o.name for o in outcomes if o.ours == "passed" and o.official != "passed"]
    assert any("BFLOAT16" in name or "bfloat16" in name for name in more)
    assert any("FLOAT8" in name for name in more)


@pytest.mark.parametrize(
    ("a", "b", "equal"),
    [
        (np.float32([1, np.nan]), np.float32([1, np.nan]), True),
        (np.float32([0.0]), np.float32([-0.0]), False),
        (np.float32([1]), np.float64([1]), False),
        (np.ones((1, 2)), np.ones((2, 1)), False),
        (np.array(["a"], object), np.array(["a"], object), True),
        (np.array(["a"], object), np.array(["b"], object), False),
        ([np.ones(1)], [np.ones(1), np.ones(1)], False),
        ([{1: 0.5}], [{1: 0.5}], True),
        ([{1: 0.5}], [{1: 1}], False),
        (None, None, True),
        (None, [], False),
    ],
)
def test_the_comparison_sees_every_difference(a: object, b: object, equal: bool) -> None:
    assert compare(a, b) is equal


def test_a_case_with_a_wrong_expectation_is_not_passed(rt: oc.Runtime) -> None:
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Neg", ["x"], ["y"])], "g", [value],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])])  # fmt: skip
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)

    class Case:
        name, rtol, atol = "neg", 1e-3, 1e-7
        data_sets = [([np.float32([1])], [np.float32([1])])]  # noqa: RUF012

    Case.model = model  # type: ignore[attr-defined]
    assert isinstance(model, onnx.ModelProto)
    assert (run_case(rt, Case).official, run_case(rt, Case).ours) == ("wrong result", "wrong result")
