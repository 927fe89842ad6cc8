"""What a session says of its inputs and outputs: names, types, shapes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .. import raw
from ..core.native import Native
from .element import Element, known_element

__all__ = ["Kind", "TypeInfo", "ValueInfo", "read_infos", "read_tensor_info", "read_type_info"]

Kind = raw.ONNXType


@dataclass(frozen=True)
class TypeInfo:
    """A value's type.

    Attributes:
        kind: tensor, sequence, map, optional, sparse tensor, opaque.
        element: a tensor's element type; a map's key type. None for a type that is not known here.
        shape: a tensor's dimensions: an int, the name of a symbolic one, None for one that is not known; None as a
            whole where the rank is not known.
        contained: what a sequence or an optional holds; a map's values.
    """

    kind: int
    element: Element | None = None
    shape: tuple[int | str | None, ...] | None = None
    contained: TypeInfo | None = None

    def __str__(self) -> str:
        name = self.element.name if self.element else "?"
        match self.kind:
            case Kind.ONNX_TYPE_TENSOR:
                return f"tensor({name})"
            case Kind.ONNX_TYPE_SPARSETENSOR:
                return f"sparse_tensor({name})"
            case Kind.ONNX_TYPE_SEQUENCE:
                return f"seq({self.contained})"
            case Kind.ONNX_TYPE_MAP:
                return f"map({name},{self.contained})"
            case Kind.ONNX_TYPE_OPTIONAL:
                return f"optional({self.contained})"
        return "opaque"


@dataclass(frozen=True)
class ValueInfo:
    """An input or output of a model.

    Attributes:
        name: its name.
        info: its type in full.
    """

    name: str
    info: TypeInfo

    @property
    def type(self) -> str:
        """The type as text, such as ``tensor(float)``."""
        return str(self.info)

    @property
    def shape(self) -> list[int | str | None] | None:
        """A tensor's dimensions; None where the rank is not known or it is no tensor."""
        return None if self.info.shape is None else list(self.info.shape)


def read_infos(native: Native, session: Any, what: str) -> tuple[ValueInfo, ...]:
    """What an OrtSession says of its "Input"s, "Output"s or "OverridableInitializer"s."""
    api, count = native.api, ctypes.c_size_t()
    getattr(api, f"SessionGet{what}Count")(session, ctypes.byref(count))
    infos = []
    for index in range(count.value):
        name, info = ctypes.POINTER(ctypes.c_char)(), ctypes.POINTER(raw.OrtTypeInfo)()
        getattr(api, f"SessionGet{what}Name")(session, index, native.cpu_allocator, ctypes.byref(name))
        text = native.take_string(name)
        getattr(api, f"SessionGet{what}TypeInfo")(session, index, ctypes.byref(info))
        try:
            infos.append(ValueInfo(text, read_type_info(native, info)))
        finally:
            api.ReleaseTypeInfo(info)
    return tuple(infos)


def read_type_info(native: Native, pointer: Any) -> TypeInfo:
    """Read an OrtTypeInfo; releasing it is the caller's."""
    kind = ctypes.c_int()
    native.api.GetOnnxTypeFromTypeInfo(pointer, ctypes.byref(kind))
    match kind.value:
        case Kind.ONNX_TYPE_TENSOR | Kind.ONNX_TYPE_SPARSETENSOR:
            info = _cast(native.api.CastTypeInfoToTensorInfo, pointer, raw.OrtTensorTypeAndShapeInfo)
            return TypeInfo(kind.value, *read_tensor_info(native, info))
        case Kind.ONNX_TYPE_SEQUENCE:
            info = _cast(native.api.CastTypeInfoToSequenceTypeInfo, pointer, raw.OrtSequenceTypeInfo)
            return TypeInfo(kind.value, contained=_contained(native, native.api.GetSequenceElementType, info))
        case Kind.ONNX_TYPE_MAP:
            info = _cast(native.api.CastTypeInfoToMapTypeInfo, pointer, raw.OrtMapTypeInfo)
            key = ctypes.c_int()
            native.api.GetMapKeyType(info, ctypes.byref(key))
            return TypeInfo(
                kind.value, known_element(key.value), contained=_contained(native, native.api.GetMapValueType, info)
            )
        case Kind.ONNX_TYPE_OPTIONAL:
            info = _cast(native.api.CastTypeInfoToOptionalTypeInfo, pointer, raw.OrtOptionalTypeInfo)
            return TypeInfo(kind.value, contained=_contained(native, native.api.GetOptionalContainedTypeInfo, info))
    return TypeInfo(kind.value)


def read_tensor_info(native: Native, info: Any) -> tuple[Element | None, tuple[int | str | None, ...] | None]:
    """Element type and dimensions of an OrtTensorTypeAndShapeInfo."""
    code, rank = ctypes.c_int(), ctypes.c_size_t()
    native.api.GetTensorElementType(info, ctypes.byref(code))
    if native.api.raw.holds("TensorTypeAndShape_HasShape") and not native.api.TensorTypeAndShape_HasShape(info):
        return known_element(code.value), None
    native.api.GetDimensionsCount(info, ctypes.byref(rank))
    sizes = (ctypes.c_int64 * rank.value)()
    names = (ctypes.c_char_p * rank.value)()
    native.api.GetDimensions(info, sizes, rank)
    native.api.GetSymbolicDimensions(info, names, rank)
    return known_element(code.value), tuple(
        size if size >= 0 else (name or b"").decode() or None for size, name in zip(sizes, names, strict=True)
    )


def _cast(function: Any, pointer: Any, kind: Any) -> Any:
    out = ctypes.POINTER(kind)()
    function(pointer, ctypes.byref(out))
    return out


def _contained(native: Native, function: Any, info: Any) -> TypeInfo:
    out = _cast(function, info, raw.OrtTypeInfo)
    try:
        return read_type_info(native, out)
    finally:
        native.api.ReleaseTypeInfo(out)
