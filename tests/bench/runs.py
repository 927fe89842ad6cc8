"""Calls of the tiny Mul model on one thread, ours against ``InferenceSession.run``, in one process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime

import ortcache

from .measure import Row, alternate, calls

__all__ = ["rows"]

_CALLS, _ROUNDS = 500, 60


def rows() -> list[Row]:
    model = Path(onnxruntime.__file__).parent / "datasets" / "mul_1.onnx"
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    official = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    feeds = {"X": np.arange(6, dtype=np.float32).reshape(3, 2)}
    runtime = ortcache.load()
    session = runtime.session(model, intra_op_num_threads=1)
    bound = session.bind(feeds)
    io = official.io_binding()
    io.bind_cpu_input("X", feeds["X"])
    io.bind_output("Y", "cpu")

    def theirs() -> Any:
        return official.run(None, feeds)

    bound.run()
    expected = theirs()[0]
    if not (np.array_equal(session.run(feeds)[0], expected) and np.array_equal(bound.outputs["Y"], expected)):
        raise RuntimeError("the two give different results")
    return [
        _row("prepared bind run, Mul (3, 2)", bound.run, theirs, 0.6),
        _row("session.run(feeds), Mul (3, 2)", lambda: session.run(feeds), theirs, 0.85),
        _row("prepared bind run against run_with_iobinding", bound.run, lambda: official.run_with_iobinding(io), None),
    ]


def _row(what: str, ours: Any, theirs: Any, goal: float | None) -> Row:
    mine, others, ratio = alternate(calls(ours, _CALLS), calls(theirs, _CALLS), _ROUNDS)
    return Row(what, f"{mine * 1e6:.2f} us", f"{others * 1e6:.2f} us", ratio, goal)
