"""Doing the same thing many times leaves nothing behind. ``ORTCACHE_STRESS`` says how many times."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import ortcache as oc
from ortcache.cli.sample import mul_model

from ..support.installed import library_file
from ..support.oracles import need
from ..support.stress import Alive

TIMES = int(os.environ.get("ORTCACHE_STRESS", "40"))
X = np.ones((3, 2), np.float32)
MODEL = mul_model()
_SPARE = 2 << 20  # bytes: what allocators and caches of the interpreter may grow by


@pytest.fixture
def alive() -> Iterator[Alive]:
    need("linux", Path("/proc/self/statm").exists())
    logger, counter = logging.getLogger("ortcache.lifetime"), Alive(hide=True)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(counter)
    yield counter
    logger.removeFilter(counter)
    logger.setLevel(before)


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def _is_flat(alive: Alive, once: Callable[[], object], times: int) -> None:
    for _ in range(max(10, times // 4)):  # what is made once, and the allocator's reserves
        once()
    alive.left()
    counts, before = dict(alive.counts), _resident()
    for _ in range(times):
        once()
    grown = _resident() - before
    assert alive.left() == {kind: n for kind, n in counts.items() if n and kind != "Environment"}
    assert grown < _SPARE, f"{grown / times:.0f} bytes a time, {times} times"


def test_sessions_closed(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        with rt.session(MODEL, intra_op_num_threads=1) as session:
            session.run({"X": X})

    _is_flat(alive, once, TIMES)
    assert alive.counts["Session"] == 0


def test_sessions_dropped(rt: oc.Runtime, alive: Alive) -> None:
    _is_flat(alive, lambda: rt.session(MODEL, intra_op_num_threads=1).run({"X": X}), TIMES)
    assert alive.counts["Session"] == 0


def test_models_that_are_refused(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        with pytest.raises(oc.OrtError):
            rt.session(MODEL[:-20])

    _is_flat(alive, once, TIMES)


def test_runs(rt: oc.Runtime, alive: Alive) -> None:
    with rt.session(MODEL, intra_op_num_threads=1) as session:
        _is_flat(alive, lambda: session.run({"X": X}), TIMES * 100)
        _is_flat(alive, lambda: session.run(["Y"], {"X": X}, rt.run_options(logid="x")), TIMES * 20)


def test_runs_that_are_refused(rt: oc.Runtime, alive: Alive) -> None:
    wrong = np.ones((4, 2), np.float32)

    def once() -> None:
        with pytest.raises(oc.OrtError):
            session.run({"X": wrong})

    with rt.session(MODEL, intra_op_num_threads=1) as session:
        _is_flat(alive, once, TIMES * 20)


def test_bindings(rt: oc.Runtime, alive: Alive) -> None:
    def once() -> None:
        bound = session.bind({"X": X}, {"Y": None})  # ORT allocates the output
        bound.run()
        assert bound.outputs["Y"].shape == (3, 2)

    with rt.session(MODEL, intra_op_num_threads=1) as session:
        _is_flat(alive, once, TIMES * 20)


def test_values(rt: oc.Runtime, alive: Alive) -> None:
    big = np.ones(1 << 18, np.float32)  # 1 MB: one that stays behind is seen at once

    def once() -> None:
        rt.value(big[::-1]).numpy()  # a copy
        rt.value(big).numpy()
        rt.value(np.array(["a", "some longer text" * 10])).numpy()

    _is_flat(alive, once, TIMES * 5)


def test_runtimes(alive: Alive) -> None:
    library_file()

    def once() -> None:
        with oc.load() as runtime:
            runtime.session(MODEL, intra_op_num_threads=1)
            runtime.session_options().config["a.key"] = "1"

    _is_flat(alive, once, TIMES)
