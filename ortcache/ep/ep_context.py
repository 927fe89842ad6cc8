"""EPContext nodes: what stands for compiled nodes in a model that is compiled ahead."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from .. import raw
from ..core.marshal import string, strings
from ..core.native import Native
from ..errors import InputError
from .graph import Node, ValueInfo

__all__ = ["ep_context_node", "wants_ep_contexts"]

_Kind = raw.OrtOpAttrType


def wants_ep_contexts(config: Mapping[str, str]) -> bool:
    """Is a model compiled ahead with these session options?"""
    return config.get(raw.kOrtSessionOptionEpContextEnable) == "1"


def ep_context_node(native: Native, kernel: Any, node: Node, source: str, version: str) -> Any:
    """The OrtNode that stands for compiled nodes. It is ORT's to release.

    Args:
        kernel: its ``ep_context()`` gives what the node holds; it is always within the model.
        node: what stands for those nodes in this session.
        source: the execution provider's name.

    Raises:
        InputError: the kernel cannot be put into a model.
    """
    if not callable(getattr(kernel, "ep_context", None)):
        raise InputError(
            f"a model that is compiled ahead needs kernels with a method ep_context, which gives bytes; the one of "
            f"{node.name}, by {source}, has none"
        )
    data = kernel.ep_context()
    if not isinstance(data, bytes):
        raise TypeError(f"ep_context must give bytes, not {type(data).__name__}")
    values: dict[str, int | bytes] = {
        "main_context": 1,
        "embed_mode": 1,
        "ep_cache_context": data,
        "source": string(source),
        "ep_sdk_version": string(version),
        "partition_name": string(node.name),
    }
    attributes = (ctypes.POINTER(raw.OrtOpAttr) * len(values))()
    out = ctypes.POINTER(raw.OrtNode)()
    try:
        for index, (name, value) in enumerate(values.items()):
            attributes[index] = _attribute(native, name, value)
        inputs, outputs = _names(node.inputs), _names(node.outputs)
        native.api.CreateNode(
            b"EPContext", b"com.microsoft", string(node.name),
            strings(inputs), len(inputs), strings(outputs), len(outputs),
            attributes, len(attributes), ctypes.byref(out),
        )  # fmt: skip
    finally:
        for attribute in attributes:
            if attribute:  # those that the node took are NULL now
                native.api.ReleaseOpAttr(attribute)
    return out


def _attribute(native: Native, name: str, value: int | bytes) -> Any:
    out = ctypes.POINTER(raw.OrtOpAttr)()
    if isinstance(value, int):
        number = ctypes.byref(ctypes.c_int64(value))
        native.api.CreateOpAttr(string(name), number, 1, _Kind.ORT_OP_ATTR_INT, ctypes.byref(out))
    else:
        native.api.CreateOpAttr(string(name), value, len(value), _Kind.ORT_OP_ATTR_STRING, ctypes.byref(out))
    return out


def _names(values: tuple[ValueInfo | None, ...]) -> list[str]:
    return ["" if value is None else value.name for value in values]
