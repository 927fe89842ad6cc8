"""Doing the same thing many times leaves nothing behind. ``ORTCACHE_STRESS`` says how many times."""

from __future__ import annotations

import numpy as np
import pytest

import ortcache as oc
from ortcache.cli.sample import mul_model

from ..support.installed import library_file
from ..support.stress import Alive
from .flat import TIMES, is_flat

X = np.ones((3, 2), np.float32)
MODEL = mul_model()


def test_sessions_closed(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        with rt.session(MODEL, intra_op_num_threads=1) as session:
            session.run({"X": X})

    is_flat(alive, once, TIMES)
    assert alive.counts["Session"] == 0


def test_sessions_dropped(rt: oc.Runtime, alive: Alive) -> None:
    is_flat(alive, lambda: rt.session(MODEL, intra_op_num_threads=1).run({"X": X}), TIMES)
    assert alive.counts["Session"] == 0


def test_models_that_are_refused(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        with pytest.raises(oc.OrtError):
            rt.session(MODEL[:-20])

    is_flat(alive, once, TIMES)


def test_runs(rt: oc.Runtime, alive: Alive) -> None:
    with rt.session(MODEL, intra_op_num_threads=1) as session:
        is_flat(alive, lambda: session.run({"X": X}), TIMES * 100)
        is_flat(alive, lambda: session.run(["Y"], {"X": X}, rt.run_options(logid="x")), TIMES * 20)


def test_runs_that_are_refused(rt: oc.Runtime, alive: Alive) -> None:
    wrong = np.ones((4, 2), np.float32)

    def once() -> None:
        with pytest.raises(oc.OrtError):
            session.run({"X": wrong})

    with rt.session(MODEL, intra_op_num_threads=1) as session:
        is_flat(alive, once, TIMES * 20, first=1200)  # ORT keeps some kilobytes for each of the first thousand


def test_bindings(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        bound = session.bind({"X": X}, {"Y": None})  # ORT allocates the output
        bound.run()
        assert bound.outputs["Y"].shape == (3, 2)

    with rt.session(MODEL, intra_op_num_threads=1) as session:
        is_flat(alive, once, TIMES * 20)


def test_values(rt: oc.Runtime, alive: Alive) -> None:
    big = np.ones(1 << 18, np.float32)  # 1 MB: one that stays behind is seen at once

    def once() -> None:
        rt.value(big[::-1]).numpy()  # a copy
        rt.value(big).numpy()
        rt.value(np.array(["a", "some longer text" * 10])).numpy()

    is_flat(alive, once, TIMES * 5)


def test_runtimes(alive: Alive) -> None:
    library_file()

    def once() -> None:
        with oc.load() as runtime:
            runtime.session(MODEL, intra_op_num_threads=1)
            runtime.session_options().config["a.key"] = "1"

    is_flat(alive, once, TIMES)
