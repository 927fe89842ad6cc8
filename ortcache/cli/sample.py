"""A real inference for ``demo`` and ``doctor``: Y = X × W, with W inside the model."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from ..api.runtime import Runtime

__all__ = ["choose_model", "infer", "mul_model", "sample_input"]

_X = ((1.0, 2.0), (3.0, 4.0), (5.0, 6.0))
_EXPECTED = ((1.0, 4.0), (9.0, 16.0), (25.0, 36.0))  # W holds the same numbers as X


def infer(runtime: Runtime) -> dict[str, Any]:
    """Run the model, once as it comes and once through a prepared binding, and say what came out."""
    import numpy as np

    source, model = choose_model(runtime.library)
    x = sample_input()
    with runtime.session(model, intra_op_num_threads=1) as session:
        (output,) = session.run({"X": x})
        bound = session.bind({"X": x})
        bound.run()
        again = bound.outputs["Y"]
        return {
            "model": source,
            "operation": "Y = X * W, float32 (3, 2)",
            "input": x.tolist(),
            "output": output.tolist(),
            "expected": [list(row) for row in _EXPECTED],
            "equal": bool(np.array_equal(output, _EXPECTED) and np.array_equal(again, _EXPECTED)),
        }


def sample_input() -> Any:
    """What X is."""
    import numpy as np

    return np.array(_X, np.float32)


def choose_model(library: Path | None) -> tuple[str, Path | bytes]:
    """The model that the onnxruntime package ships beside its library; a release archive has none, so then ours."""
    if library is not None:
        shipped = library.parent.parent / "datasets" / "mul_1.onnx"
        if shipped.is_file():
            return "mul_1.onnx of the onnxruntime package", shipped
    return "made by ortcache", mul_model()


def mul_model() -> bytes:
    """The same model as an ONNX file: one Mul node, IR version 4, operator set 7."""
    shape = _bytes(2, b"".join(_bytes(1, _number(1, size)) for size in (3, 2)))
    float_tensor = _bytes(2, _bytes(1, _number(1, 1) + shape))
    numbers = [value for row in _X for value in row]
    weights = _number(1, 3) + _number(1, 2) + _number(2, 1) + _bytes(8, b"W") + _bytes(9, _floats(numbers))
    node = _bytes(1, b"X") + _bytes(1, b"W") + _bytes(2, b"Y") + _bytes(4, b"Mul")
    graph = (
        _bytes(1, node)
        + _bytes(2, b"mul")
        + _bytes(5, weights)
        + _bytes(11, _bytes(1, b"X") + float_tensor)
        + _bytes(12, _bytes(1, b"Y") + float_tensor)
    )
    return _number(1, 4) + _bytes(7, graph) + _bytes(8, _number(2, 7))


# An ONNX file is a protocol buffer: fields, each a number or bytes, in any order.


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    low, high = value & 0x7F, value >> 7
    return bytes([low | 0x80]) + _varint(high) if high else bytes([low])


def _floats(values: list[float]) -> bytes:
    return struct.pack(f"<{len(values)}f", *values)
