"""A compiled Mul within a model: its plan, and what of the node the plan does not say."""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from ..api.element import known_element
from .mul_plan import MulPlan, MulSpec, Operand, parse_plan, read_plan, write_plan
from .sealed import Reason, RejectedError, fingerprint, seal, unseal

__all__ = ["CONTEXT_MAGIC", "read_context", "write_context"]

CONTEXT_MAGIC = b"OCMULCTX"

_UNKNOWN = -1  # a dimension that only a run tells, a rank that is not known, an operand that is no input


def write_context(spec: MulSpec, plan: MulPlan, sources: Sequence[int | None], version: int) -> bytes:
    """A compiled Mul as bytes.

    Args:
        sources: for each operand which input it is, or None for a constant one.
        version: the format's.
    """
    parts = [struct.pack("<Bi", spec.element.code, spec.since_version)]
    for operand, source in zip(spec.operands, sources, strict=True):
        shape = operand.shape
        sizes = [] if shape is None else [_UNKNOWN if size is None else size for size in shape]
        rank = _UNKNOWN if shape is None else len(sizes)
        parts.append(struct.pack(f"<bb{len(sizes)}q", _UNKNOWN if source is None else source, rank, *sizes))
    return seal(CONTEXT_MAGIC, version, _identity(spec.ort_version, spec.ep), b"".join(parts) + write_plan(plan))


def read_context(
    data: bytes, ort_version: str, ep: tuple[str, str], version: int
) -> tuple[MulSpec, MulPlan, list[int | None]]:
    """What was written.

    Raises:
        RejectedError: it is damaged, or of another version of ONNX Runtime or of the provider.
    """
    payload = unseal(data, CONTEXT_MAGIC, version, _identity(ort_version, ep))
    try:
        code, since_version = struct.unpack_from("<Bi", payload)
        at, shapes, sources = 5, [], []
        for _ in range(2):
            source, rank = struct.unpack_from("<bb", payload, at)
            sizes = struct.unpack_from(f"<{max(rank, 0)}q", payload, at + 2)
            at += 2 + 8 * len(sizes)
            shapes.append(None if rank < 0 else tuple(None if size < 0 else size for size in sizes))
            sources.append(None if source < 0 else source)
        plan = parse_plan(payload[at:])
        element = known_element(code)
        if element is None:
            raise RejectedError(Reason.PAYLOAD, f"its element type {code} is not known")
        operands = []
        for shape, constant in zip(shapes, plan.constants, strict=True):
            operand = Operand(shape)
            if constant is not None:
                operand = Operand(shape, np.frombuffer(constant, element.dtype).reshape(operand.static or ()))
            operands.append(operand)
    except (struct.error, IndexError, ValueError) as error:
        raise RejectedError(Reason.PAYLOAD, f"its payload is no compiled Mul: {error}") from None
    spec = MulSpec(since_version, element, (operands[0], operands[1]), ort_version, ep)
    return spec, read_plan(payload[at:], spec), sources


def _identity(ort_version: str, ep: tuple[str, str]) -> bytes:
    return fingerprint({"ort": ort_version, "ep": ep[0], "ep version": ep[1]})
