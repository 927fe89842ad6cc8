"""The compiled form of a Mul node: how its operands are broadcast, and its constant operands packed."""

from __future__ import annotations

import hashlib
import struct
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..api.element import Element
from .graph import Node
from .sealed import Reason, RejectedError, fingerprint

__all__ = [
    "MulPlan",
    "MulSpec",
    "Operand",
    "broadcast",
    "build_plan",
    "parse_plan",
    "read_plan",
    "spec_of",
    "write_plan",
]

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Operand:
    """One side of a multiplication.

    Attributes:
        shape: its dimensions, None for one that only a run tells; None as a whole for an unknown rank.
        constant: its value, where that is known.
    """

    shape: tuple[int | None, ...] | None
    constant: Any = None

    @property
    def static(self) -> Shape | None:
        """The shape, where all of it is known."""
        sizes = tuple(size for size in self.shape or () if size is not None)
        return sizes if self.shape is not None and len(sizes) == len(self.shape) else None

    @property
    def digest(self) -> str:
        """Of the constant value; "" without one."""
        return "" if self.constant is None else hashlib.sha256(self.constant.tobytes()).hexdigest()


@dataclass(frozen=True)
class MulSpec:
    """All that a plan depends on.

    Attributes:
        since_version: the operator's.
        element: of operands and product.
        operands: left and right.
        ort_version: the library's, as it says itself.
        ep: the provider's name and version.
    """

    since_version: int
    element: Element
    operands: tuple[Operand, Operand]
    ort_version: str
    ep: tuple[str, str]

    def fingerprint(self) -> bytes:
        parts: dict[str, object] = {
            "operator": "Mul",
            "domain": "",
            "since_version": self.since_version,
            "element": self.element.name,
            "byte order": sys.byteorder,
            "ort": self.ort_version,
            "ep": self.ep[0],
            "ep version": self.ep[1],
        }
        for side, operand in zip("ab", self.operands, strict=True):
            parts[f"shape {side}"] = operand.shape
            parts[f"constant {side}"] = operand.digest
        return fingerprint(parts)


@dataclass(frozen=True)
class MulPlan:
    """How to multiply.

    Attributes:
        shapes: of left, right and product with as few dimensions as broadcasting needs; None where a run must tell.
        constants: the constant operands' values, in the order of their memory; None for the others.
    """

    shapes: tuple[Shape, Shape, Shape] | None
    constants: tuple[bytes | None, bytes | None]


def spec_of(node: Node, element: Element, constants: list[Any], ort_version: str, ep: tuple[str, str]) -> MulSpec:
    """What a Mul node's plan depends on; ``constants`` has the value of each operand that has one."""
    operands = []
    for value, constant in zip(node.inputs, constants, strict=True):
        shape = constant.shape if constant is not None else value.shape if value is not None else None
        sizes = None if shape is None else tuple(size if isinstance(size, int) else None for size in shape)
        operands.append(Operand(sizes, constant))
    return MulSpec(node.since_version, element, (operands[0], operands[1]), ort_version, ep)


def build_plan(spec: MulSpec) -> MulPlan:
    """Compile."""
    left, right = (operand.static for operand in spec.operands)
    shapes = None if left is None or right is None else broadcast(left, right)
    packed = [None if o.constant is None else np.ascontiguousarray(o.constant).tobytes() for o in spec.operands]
    return MulPlan(shapes, (packed[0], packed[1]))


def broadcast(left: Shape, right: Shape) -> tuple[Shape, Shape, Shape]:
    """Shapes of the same memory with as few dimensions as broadcasting needs.

    Raises:
        ValueError: the two cannot be broadcast.
    """
    np.broadcast_shapes(left, right)
    rank = max(len(left), len(right))
    pairs = zip((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right, strict=True)
    merged: list[tuple[int, int]] = []
    for a, b in pairs:
        if a == b == 1:
            continue
        last = merged[-1] if merged else None
        # Two neighbours become one where the same operands step through both.
        if last is not None and (a == 1, b == 1) == (last[0] == 1, last[1] == 1):
            merged[-1] = last[0] * a, last[1] * b
        else:
            merged.append((a, b))
    product = tuple(b if a == 1 else a for a, b in merged)
    return tuple(a for a, _ in merged), tuple(b for _, b in merged), product


def write_plan(plan: MulPlan) -> bytes:
    """A plan as bytes."""
    parts = [struct.pack("<B", plan.shapes is not None)]
    parts += [struct.pack(f"<B{len(shape)}q", len(shape), *shape) for shape in plan.shapes or ()]
    for constant in plan.constants:
        parts += [struct.pack("<q", -1 if constant is None else len(constant)), constant or b""]
    return b"".join(parts)


def read_plan(data: bytes, spec: MulSpec) -> MulPlan:
    """A plan from bytes.

    Raises:
        RejectedError: it cannot be a plan for this.
    """
    try:
        plan = parse_plan(data)
    except (struct.error, IndexError) as error:
        raise RejectedError(Reason.PAYLOAD, f"its payload is too short: {error}") from None
    if write_plan(plan) != data:
        raise RejectedError(Reason.PAYLOAD, "its payload is no plan, or has something behind it")
    left, right = (operand.static for operand in spec.operands)
    expected = None if left is None or right is None else broadcast(left, right)
    if plan.shapes != expected:
        raise RejectedError(Reason.PAYLOAD, f"its shapes are {plan.shapes}, not {expected}")
    for operand, constant in zip(spec.operands, plan.constants, strict=True):
        if (operand.constant is None) != (constant is None):
            raise RejectedError(Reason.PAYLOAD, "it has a constant operand where there is none, or none where there is")
        if constant is not None and hashlib.sha256(constant).hexdigest() != operand.digest:
            raise RejectedError(Reason.PAYLOAD, "its constant operand is another")
    return plan


def parse_plan(data: bytes) -> MulPlan:
    """The same without a look at whether it fits; struct.error or IndexError for bytes that are too few."""
    at, shapes = 1, []
    for _ in range(3 if data[0] else 0):
        rank = data[at]
        shapes.append(struct.unpack_from(f"<{rank}q", data, at + 1))
        at += 1 + 8 * rank
    constants: list[bytes | None] = []
    for _ in range(2):
        (size,) = struct.unpack_from("<q", data, at)
        at += 8
        constants.append(None if size < 0 else data[at : at + size])
        at += max(size, 0)
    planned = (shapes[0], shapes[1], shapes[2]) if shapes else None
    return MulPlan(planned, (constants[0], constants[1]))
