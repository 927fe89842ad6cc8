"""What a model says of itself."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from typing import Any

from .. import raw
from ..core.native import Native

__all__ = ["ModelMetadata", "read_metadata"]


@dataclass(frozen=True)
class ModelMetadata:
    """A model's metadata; a field that the model leaves out is empty.

    Attributes:
        producer_name: the tool that made the model.
        graph_name: the main graph's name.
        domain: the model's namespace, in reverse-DNS form.
        description: the model's documentation.
        graph_description: the main graph's.
        version: the model's own version number; 2**63 - 1, as ORT gives it, where it has none.
        custom_metadata_map: further entries of the model's author.
    """

    producer_name: str = ""
    graph_name: str = ""
    domain: str = ""
    description: str = ""
    graph_description: str = ""
    version: int = 2**63 - 1
    custom_metadata_map: dict[str, str] = field(default_factory=dict)


def read_metadata(native: Native, session: Any) -> ModelMetadata:
    """The metadata of the model in a session.

    Args:
        session: the OrtSession, borrowed.
    """
    metadata = ctypes.POINTER(raw.OrtModelMetadata)()
    native.api.SessionGetModelMetadata(session, ctypes.byref(metadata))
    try:
        version = ctypes.c_int64()
        native.api.ModelMetadataGetVersion(metadata, ctypes.byref(version))
        return ModelMetadata(
            producer_name=_string(native, metadata, "ModelMetadataGetProducerName"),
            graph_name=_string(native, metadata, "ModelMetadataGetGraphName"),
            domain=_string(native, metadata, "ModelMetadataGetDomain"),
            description=_string(native, metadata, "ModelMetadataGetDescription"),
            graph_description=_string(native, metadata, "ModelMetadataGetGraphDescription"),
            version=version.value,
            custom_metadata_map=_custom(native, metadata),
        )
    finally:
        native.api.ReleaseModelMetadata(metadata)


def _string(native: Native, metadata: Any, function: str, *key: bytes) -> str:
    out = ctypes.POINTER(ctypes.c_char)()
    getattr(native.api, function)(metadata, native.cpu_allocator, *key, ctypes.byref(out))
    return native.take_string(out)


def _custom(native: Native, metadata: Any) -> dict[str, str]:
    allocator = native.cpu_allocator
    keys, count = ctypes.POINTER(ctypes.POINTER(ctypes.c_char))(), ctypes.c_int64()
    native.api.ModelMetadataGetCustomMetadataMapKeys(metadata, allocator, ctypes.byref(keys), ctypes.byref(count))
    try:
        # As bytes: a key is looked up again, and one that is no UTF-8 must be found too.
        names = [ctypes.string_at(keys[i]) for i in range(count.value)]
        lookup = "ModelMetadataLookupCustomMetadataMap"
        return {name.decode("utf-8", "replace"): _string(native, metadata, lookup, name) for name in names}
    finally:
        for i in range(count.value):
            native.api.AllocatorFree(allocator, keys[i])
        if keys:
            native.api.AllocatorFree(allocator, keys)
