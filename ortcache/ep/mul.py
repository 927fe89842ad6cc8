"""The example: an execution provider that compiles Mul nodes, and keeps what it compiled in the EP cache."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ..api.element import Element
from ..errors import InputError
from ..support import CacheSupport
from .context import EpContext
from .counters import Outcome
from .ep import Ep
from .graph import Graph, Node
from .kernel import KernelContext
from .mul_context import read_context, write_context
from .mul_plan import MulPlan, MulSpec, build_plan, read_plan, spec_of, write_plan
from .sealed import RejectedError, seal, unseal

__all__ = ["FORMAT_VERSION", "MAGIC", "MulEp", "MulKernel"]

MAGIC = b"OCMULPLN"
FORMAT_VERSION = 1

_ELEMENTS = {
    "float", "double", "float16", "bfloat16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
}  # fmt: skip
_OPTIONS = {
    "compile_delay_ms": "milliseconds that compiling a node takes longer, to see what a cache saves",
    "max_plan_bytes": "bytes of the largest plan that is read from a cache or written to it",
}


class MulEp(Ep):
    """Multiplies in numpy what Mul nodes multiply; the products are the CPU provider's to the bit.

    Provider options: ``compile_delay_ms``, ``max_plan_bytes``.

    Attributes:
        outcomes: how often each was: "hit", "miss", "error", "oversize", "refused" or "off" for a look into the cache;
            "rejected_" with a `Reason` for an entry that was not its own; "built" for a plan that was compiled;
            "written" and "write_failed"; "context" for a node of a model that was compiled ahead.
    """

    name = "MulExecutionProvider"
    vendor = "ortcache"
    version = "1.0.0"
    cache_support = CacheSupport.READ | CacheSupport.WRITE
    drop_constant_initializers = True  # a plan has them

    def __init__(self, context: EpContext) -> None:
        super().__init__(context)
        unknown = set(context.options) - set(_OPTIONS)
        if unknown:
            known = "; ".join(f"{name}: {what}" for name, what in _OPTIONS.items())
            raise InputError(f"{self.name} has no option {', '.join(sorted(unknown))}. It has {known}")
        self._delay = _number(context.options, "compile_delay_ms", 0) / 1000
        self.cache_read_limit = self.cache_write_limit = _number(context.options, "max_plan_bytes", 1 << 30)
        self.outcomes: Counter[str] = Counter()

    def get_capability(self, graph: Graph) -> Iterable[Node]:
        return [node for node in graph.nodes if _is_ours(node) or self._is_context(node)]

    def compile(self, graph: Graph, node: Node) -> MulKernel:
        (only,) = graph.nodes
        native, ep = self.context.native, (self.name, self.version)
        if self._is_context(only):
            data = only.attributes.data("ep_cache_context")
            self.outcomes["context"] += 1
            return MulKernel(*read_context(data, native.version, ep, FORMAT_VERSION))
        element = only.outputs[0].element if only.outputs[0] else None
        assert element is not None
        operands = [value for value in only.inputs if value is not None]
        # What is no input of the kernel is a constant, and comes with the plan.
        sources = [graph.inputs.index(value) if value in graph.inputs else None for value in operands]
        constants = [None if value in graph.inputs else value.initializer() for value in operands]
        spec = spec_of(only, element, constants, native.version, ep)
        return MulKernel(spec, self._plan(spec), sources)

    def _is_context(self, node: Node) -> bool:
        """Was it compiled ahead, by this provider?"""
        return node.op_type == "EPContext" and node.attributes.get("source") == self.name

    def _plan(self, spec: MulSpec) -> MulPlan:
        """From the cache, else compiled and put there."""
        cache, identity = self.context.cache, spec.fingerprint()
        key = f"mul-{identity.hex()[:40]}"
        found = cache.look(key)
        if found.outcome is not Outcome.HIT:
            self.outcomes[found.outcome.value] += 1
        else:
            try:
                plan = read_plan(unseal(found.data or b"", MAGIC, FORMAT_VERSION, identity), spec)
            except RejectedError as rejected:
                self.outcomes[f"rejected_{rejected.reason.value}"] += 1
                cache.reject(key, str(rejected))
            else:
                self.outcomes["hit"] += 1
                return plan
        self.context.log.info("compiling a Mul of %s, %s", spec.element.name, key)
        time.sleep(self._delay)
        plan = build_plan(spec)
        self.outcomes["built"] += 1
        if cache.writable:
            stored = cache.put(key, seal(MAGIC, FORMAT_VERSION, identity, write_plan(plan)))
            self.outcomes["written" if stored else "write_failed"] += 1
        return plan


class MulKernel:
    """One compiled Mul.

    Args:
        sources: for each operand which input it is, or None for a constant one.
    """

    def __init__(self, spec: MulSpec, plan: MulPlan, sources: list[int | None]) -> None:
        self._spec = spec
        self._plan = plan
        self._sources = sources
        self._dtype = spec.element.dtype
        self._shapes = [operand.static for operand in spec.operands]
        self._constants = [
            None if data is None else np.frombuffer(data, self._dtype).reshape(operand.static or ())
            for data, operand in zip(plan.constants, spec.operands, strict=True)
        ]

    def compute(self, context: KernelContext) -> None:
        left, right = self._operand(context, 0), self._operand(context, 1)
        product = context.output(0, np.broadcast_shapes(left.shape, right.shape), self._dtype)
        shapes = self._plan.shapes
        # A run may bring another shape than the model promises.
        if shapes is not None and self._shapes == [left.shape, right.shape]:
            left, right, product = left.reshape(shapes[0]), right.reshape(shapes[1]), product.reshape(shapes[2])
        with np.errstate(all="ignore"):
            np.multiply(left, right, out=product)

    def ep_context(self) -> bytes:
        """The plan, for a model that is compiled ahead."""
        return write_context(self._spec, self._plan, self._sources, FORMAT_VERSION)

    def _operand(self, context: KernelContext, side: int) -> Any:
        source = self._sources[side]
        return self._constants[side] if source is None else context.input(source)


def _is_ours(node: Node) -> bool:
    if node.op_type != "Mul" or node.domain or node.since_version < 7:  # before it, broadcasting was another
        return False
    values = [*node.inputs, *node.outputs]
    elements = {value.element for value in values if value is not None}
    return len(values) == 3 and len(elements) == 1 and all(map(_is_number, elements))


def _is_number(element: Element | None) -> bool:
    if element is None or element.name not in _ELEMENTS:
        return False
    # Without the package ml_dtypes a bfloat16 comes as its bits. (None is asked for first: numpy takes it for float64.)
    return element.bits_dtype is None or element.dtype != element.bits_dtype


def _number(options: Mapping[str, Any], name: str, default: int) -> int:
    text = options.get(name, str(default))
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InputError(f"{MulEp.name}: option {name} is {text!r}: give a whole number, 0 or more")
    return int(text)
