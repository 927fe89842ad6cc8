"""Feeds of zeros, for a provider that builds when a session first runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..raw import ONNXType
from .warm_job import Emit, Job, UsageError

__all__ = ["run_with_zeros", "zero_feeds"]


def zero_feeds(inputs: Sequence[Any], shapes: Mapping[str, Sequence[int]]) -> dict[str, Any]:
    """An array of zeros for each input.

    Args:
        inputs: what the session takes.
        shapes: of inputs whose own shape is not fixed.

    Raises:
        UsageError: an input is no tensor, or has a free dimension and no shape is given; a shape is no input's.
    """
    import numpy as np

    unknown = sorted(set(shapes) - {i.name for i in inputs})
    if unknown:
        names = ", ".join(i.name for i in inputs)
        raise UsageError(f"--shape: the model has no input {', '.join(unknown)}; it has {names}")
    feeds = {}
    for info in inputs:
        shape = shapes.get(info.name, info.shape)
        if shape is None or not all(isinstance(size, int) for size in shape):
            raise UsageError(f"a run needs --shape {info.name}=…, as the model leaves it open: {shape}")
        element = info.info.element
        if info.info.kind != ONNXType.ONNX_TYPE_TENSOR or element is None:
            raise UsageError(f"the input {info.name} is a {info.type}, which is not made here: leave --runs out")
        text = element.dtype == object
        feeds[info.name] = np.full(shape, "", object) if text else np.zeros(shape, element.dtype)
    return feeds


def run_with_zeros(session: Any, job: Job, emit: Emit) -> None:
    """As many runs as the job wants."""
    if job.runs:
        feeds = zero_feeds(session.inputs, job.shapes)
        for number in range(job.runs):
            emit("run", number=number + 1)
            session.run(feeds)
