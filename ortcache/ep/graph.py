"""Read-only views of a model's graph: what an execution provider decides and compiles from.

All of them are valid only during the call that they were made for.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .. import raw
from ..api.element import Element
from ..api.typeinfo import Kind, TypeInfo, read_type_info
from .attributes import Attributes
from .initializers import ExternalData, external_data, initial_value
from .view import View, decode, fact

__all__ = ["Graph", "Node", "ValueInfo"]


class ValueInfo(View):
    """A value of a graph: an input, an initializer, or what one node passes to others."""

    struct = "OrtValueInfo"

    @fact
    def name(self) -> str:
        """Its name."""
        return self._text("GetValueInfoName")

    @fact
    def info(self) -> TypeInfo | None:
        """Its type in full; None where the model does not say and ORT could not infer it."""
        out = self._get("GetValueInfoTypeInfo", ctypes.POINTER(raw.OrtTypeInfo)())
        return read_type_info(self._native, out) if out else None  # borrowed

    @property
    def type(self) -> str:
        """The type as text, such as ``tensor(float)``; "" where it is not known."""
        return str(self.info or "")

    @property
    def is_tensor(self) -> bool:
        """Is it a tensor, and neither a sequence nor an optional?"""
        return self.info is not None and self.info.kind == Kind.ONNX_TYPE_TENSOR

    @property
    def element(self) -> Element | None:
        """A tensor's element type."""
        return self.info.element if self.info else None

    @property
    def shape(self) -> tuple[int | str | None, ...] | None:
        """A tensor's dimensions: an int, the name of a symbolic one, None for one that is not known. None as a whole
        where the rank is not known."""
        return self.info.shape if self.info else None

    @property
    def static_shape(self) -> tuple[int, ...] | None:
        """The shape, where every dimension is a number; else None."""
        shape = self.shape or ()
        sizes = tuple(size for size in shape if isinstance(size, int))
        return sizes if self.shape is not None and len(sizes) == len(shape) else None

    @fact
    def is_constant_initializer(self) -> bool:
        """Is it an initializer that no feed can replace?"""
        return self._flag("ValueInfo_IsConstantInitializer")

    @fact
    def is_required_graph_input(self) -> bool:
        """Is it an input that must be fed?"""
        return self._flag("ValueInfo_IsRequiredGraphInput")

    @fact
    def is_optional_graph_input(self) -> bool:
        """Is it an initializer that a feed may replace?"""
        return self._flag("ValueInfo_IsOptionalGraphInput")

    @property
    def is_graph_input(self) -> bool:
        """Is it an input of either kind?"""
        return self.is_required_graph_input or self.is_optional_graph_input

    @fact
    def is_graph_output(self) -> bool:
        """Is it an output of the graph?"""
        return self._flag("ValueInfo_IsGraphOutput")

    @fact
    def is_from_outer_scope(self) -> bool:
        """Does it come from the graph around this subgraph?"""
        return self._flag("ValueInfo_IsFromOuterScope")

    @fact
    def external_data(self) -> ExternalData | None:
        """Where an initializer's data is, if ORT left it in another file."""
        return external_data(self)

    def initializer(self, *, copy: bool = True) -> Any:
        """An initializer's value as an array; None for a value that is no initializer.

        Args:
            copy: False gives a read-only array over ORT's own memory, which must not be kept beyond the call.
        """
        return initial_value(self, copy)

    @fact
    def producer(self) -> tuple[Node, int] | None:
        """The node that makes it, and as which of its outputs."""
        node, index = ctypes.POINTER(raw.OrtNode)(), ctypes.c_size_t()
        self._native.api.ValueInfo_GetValueProducer(self._pointer, ctypes.byref(node), ctypes.byref(index))
        return (self._scope.view(Node, node), index.value) if node else None

    @fact
    def consumers(self) -> tuple[tuple[Node, int], ...]:
        """The nodes that use it, each with the input it is there; -1 where it goes into a subgraph of the node."""
        count = self._get("ValueInfo_GetValueNumConsumers", ctypes.c_size_t()).value
        nodes, inputs = (ctypes.POINTER(raw.OrtNode) * count)(), (ctypes.c_int64 * count)()
        if count:
            self._native.api.ValueInfo_GetValueConsumers(self._pointer, nodes, inputs, count)
        return tuple((self._scope.view(Node, node), index) for node, index in zip(nodes, inputs, strict=True))

    def __repr__(self) -> str:
        shape = "" if self.shape is None else f" {list(self.shape)}"
        return f"<ValueInfo {self.name}: {self.type or 'of unknown type'}{shape}>"


class Node(View):
    """A node of a graph."""

    struct = "OrtNode"

    @fact
    def id(self) -> int:
        """A number that no other node of the graph has."""
        return int(self._get("Node_GetId", ctypes.c_size_t()).value)

    @fact
    def name(self) -> str:
        """Its name; "" where the model gives none."""
        return self._text("Node_GetName")

    @fact
    def op_type(self) -> str:
        """The operator."""
        return self._text("Node_GetOperatorType")

    @fact
    def domain(self) -> str:
        """The operator's domain; "" is ONNX's own."""
        return self._text("Node_GetDomain")

    @fact
    def since_version(self) -> int:
        """The version of the operator set that brought the operator in this form."""
        return int(self._get("Node_GetSinceVersion", ctypes.c_int()).value)

    @fact
    def ep_name(self) -> str:
        """The execution provider that it is assigned to; "" while there is none."""
        return self._text("Node_GetEpName")

    @fact
    def inputs(self) -> tuple[ValueInfo | None, ...]:
        """Its inputs; None for an optional one that is left out."""
        return self._views("Node_GetNumInputs", "Node_GetInputs", ValueInfo)

    @fact
    def outputs(self) -> tuple[ValueInfo | None, ...]:
        """Its outputs; None for an optional one that is left out."""
        return self._views("Node_GetNumOutputs", "Node_GetOutputs", ValueInfo)

    @fact
    def implicit_inputs(self) -> tuple[ValueInfo, ...]:
        """What its subgraphs use of the graph around them."""
        return self._all("Node_GetNumImplicitInputs", "Node_GetImplicitInputs", ValueInfo)

    @fact
    def attributes(self) -> Attributes:
        """Its attributes by name."""
        pointers = self._array("Node_GetNumAttributes", "Node_GetAttributes", "OrtOpAttr")
        return Attributes(self, [pointer for pointer in pointers if pointer], lambda: self.subgraphs)

    @fact
    def subgraphs(self) -> Mapping[str, Graph]:
        """Its subgraphs, by the attribute that holds each."""
        count = self._get("Node_GetNumSubgraphs", ctypes.c_size_t()).value
        graphs, names = (ctypes.POINTER(raw.OrtGraph) * count)(), (ctypes.c_char_p * count)()
        if count:
            self._native.api.Node_GetSubgraphs(self._pointer, graphs, count, names)
        return {decode(name): self._scope.view(Graph, graph) for name, graph in zip(names, graphs, strict=True)}

    @fact
    def graph(self) -> Graph | None:
        """The graph that it is in; None where ORT does not say."""
        return self._scope.optional(Graph, self._get("Node_GetGraph", ctypes.POINTER(raw.OrtGraph)()))

    def __repr__(self) -> str:
        domain = f"{self.domain}." if self.domain else ""
        return f"<Node {self.name or self.id}: {domain}{self.op_type}-{self.since_version}>"


class Graph(View):
    """A graph, a subgraph, or the part of one that is compiled into one node."""

    struct = "OrtGraph"

    @fact
    def name(self) -> str:
        """Its name."""
        return self._text("Graph_GetName")

    @fact
    def model_path(self) -> Path | None:
        """The model's file; None for a model from memory."""
        path = self._get("Graph_GetModelPath", ctypes.c_wchar_p() if os.name == "nt" else ctypes.c_char_p()).value
        return Path(os.fsdecode(path)) if path else None

    @fact
    def ir_version(self) -> int:
        """The version of the ONNX format that the model is written in."""
        return int(self._get("Graph_GetOnnxIRVersion", ctypes.c_int64()).value)

    @fact
    def opsets(self) -> Mapping[str, int]:
        """The version of the operator set of each domain; "" is ONNX's own."""
        count = self._get("Graph_GetNumOperatorSets", ctypes.c_size_t()).value
        domains, versions = (ctypes.c_char_p * count)(), (ctypes.c_int64 * count)()
        if count:
            self._native.api.Graph_GetOperatorSets(self._pointer, domains, versions, count)
        return {decode(domain): version for domain, version in zip(domains, versions, strict=True)}

    @fact
    def nodes(self) -> tuple[Node, ...]:
        """Its nodes, each after those that it needs."""
        return self._all("Graph_GetNumNodes", "Graph_GetNodes", Node)

    @fact
    def inputs(self) -> tuple[ValueInfo, ...]:
        """Its inputs, among them initializers that a feed may replace."""
        return self._all("Graph_GetNumInputs", "Graph_GetInputs", ValueInfo)

    @fact
    def outputs(self) -> tuple[ValueInfo, ...]:
        """Its outputs."""
        return self._all("Graph_GetNumOutputs", "Graph_GetOutputs", ValueInfo)

    @fact
    def initializers(self) -> tuple[ValueInfo, ...]:
        """The values that the model brings with it, constant or not."""
        return self._all("Graph_GetNumInitializers", "Graph_GetInitializers", ValueInfo)

    @fact
    def parent_node(self) -> Node | None:
        """For a subgraph: the node whose attribute it is."""
        return self._scope.optional(Node, self._get("Graph_GetParentNode", ctypes.POINTER(raw.OrtNode)()))

    def __repr__(self) -> str:
        return f"<Graph {self.name or 'without a name'}, {len(self.nodes)} nodes>"
