"""Runs of every kind, many times over, leave nothing behind."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import ortcache as oc

from ..support.graphs import Node, TensorProto, identity, model, of_type, optional, sequence, tensor
from ..support.stress import Alive
from .flat import TIMES, is_flat

BIG = np.ones(200_000, np.float32)
SMALL = np.ones(6, np.float32)
NONZERO = model([Node("NonZero", ["x"], ["y"])], [tensor("x", ["n"])], [tensor("y", [1, None], TensorProto.INT64)])
LISTS = model([Node("Identity", ["x"], ["y"])], [of_type("x", sequence())], [of_type("y", sequence())])
MAYBE = model(
    [Node("OptionalHasElement", ["x"], ["y"])], [of_type("x", optional())], [tensor("y", [], TensorProto.BOOL)]
)


@pytest.mark.parametrize(
    ("data", "feeds"),
    [
        (identity(), [SMALL]),
        (identity(), [BIG]),
        (identity(), [BIG[::2], SMALL.astype(">f4"), SMALL.tolist()]),
        (identity(), [BIG[:n] for n in range(24)]),  # more than there are plans
        (NONZERO, [SMALL]),
        (identity(TensorProto.STRING), [np.array(["a", "b" * 100, "c\0"], object)]),
        (LISTS, [[SMALL, SMALL], [], [BIG]]),
        (MAYBE, [None, SMALL]),
    ],
    ids=["small", "large", "copied", "many shapes", "allocated", "strings", "sequences", "optionals"],
)
def test_runs(rt: oc.Runtime, alive: Alive, data: bytes, feeds: list[Any]) -> None:
    turn = itertools.cycle(feeds)
    with rt.session(data, intra_op_num_threads=1) as session:
        is_flat(alive, lambda: session.run({"x": next(turn)}), TIMES * 10)


def test_values_as_feeds(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        value = rt.value(BIG)
        session.run({"x": value})[0].sum()
        rt.value(SMALL).close()

    with rt.session(identity(), intra_op_num_threads=1) as session:
        is_flat(alive, once, TIMES * 10)


def test_feeds_that_are_refused(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        for bad in (BIG.astype(np.float64), "text", np.array([1], object), BIG.reshape(2, -1)):
            with pytest.raises((oc.InputError, oc.OrtError)):
                session.run({"x": bad})

    with rt.session(identity(), log_severity_level=4) as session:
        is_flat(alive, once, TIMES * 5)


def test_bindings_that_are_run_and_read(rt: oc.Runtime, alive: Alive) -> None:
    x = BIG.copy()
    with rt.session(NONZERO) as allocated, rt.session(identity()) as fixed:
        with allocated.bind({"x": x}) as first, fixed.bind({"x": x}) as second:

            def once() -> None:
                first.run()
                second.run()
                assert first.outputs["y"].shape[1] == second.outputs["y"].size

            is_flat(alive, once, TIMES * 2)


def test_bindings_that_are_refused(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        for outputs in ({"y": BIG}, {"z": None}, {"y": SMALL[::-1]}):
            with pytest.raises(oc.InputError):
                session.bind({"x": SMALL}, outputs)

    with rt.session(identity()) as session:
        is_flat(alive, once, TIMES * 5)


def test_sessions_with_plans_and_bindings(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        session = rt.session(identity(), intra_op_num_threads=1)
        binding = session.bind({"x": SMALL})
        for _ in range(4):
            session.run({"x": SMALL})
            session.run({"x": BIG})
            binding.run()
        binding.close()

    is_flat(alive, once, TIMES)
    assert alive.counts["Session"] == 0
