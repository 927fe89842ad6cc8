"""A node's attributes to Python values."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import raw
from ..api.reading import read
from ..core.native import Native
from ..core.status import address
from ..errors import InputError
from .view import View, decode

__all__ = ["Attributes", "read_attribute"]

_Kind = raw.OrtOpAttrType


class Attributes(Mapping[str, Any]):
    """The attributes of a node by name. A value is read when it is asked for.

    An int, a float, a str (bytes where it is no UTF-8), lists of those, an array for a tensor, a `Graph` for a graph.
    """

    def __init__(self, node: View, pointers: list[Any], subgraphs: Callable[[], Mapping[str, Any]]) -> None:
        self._node = node
        self._subgraphs = subgraphs
        native = node._native
        self._pointers = {_name(native, pointer): pointer for pointer in pointers}

    def __getitem__(self, name: str) -> Any:
        _ = self._node._pointer  # raises where the node is dead
        pointer = self._pointers[name]
        if _kind(self._node._native, pointer) == _Kind.ORT_OP_ATTR_GRAPH:
            return self._subgraphs()[name]
        try:
            return read_attribute(self._node._native, pointer)
        except InputError as error:
            raise InputError(f"attribute {name!r}: {error}") from error

    def data(self, name: str) -> bytes:
        """The bytes of a str attribute as they are."""
        _ = self._node._pointer
        return _bytes(self._node._native, self._pointers[name], _Kind.ORT_OP_ATTR_STRING)

    def __iter__(self) -> Iterator[str]:
        return iter(self._pointers)

    def __len__(self) -> int:
        return len(self._pointers)

    def __repr__(self) -> str:
        return f"<Attributes {', '.join(self._pointers)}>"


def read_attribute(native: Native, pointer: Any) -> Any:
    """The value of an OrtOpAttr that is no graph.

    Raises:
        InputError: ORT has no way to read an attribute of that type.
    """
    match _kind(native, pointer):
        case _Kind.ORT_OP_ATTR_INT:
            return _one(native, pointer, _Kind.ORT_OP_ATTR_INT, ctypes.c_int64())
        case _Kind.ORT_OP_ATTR_FLOAT:
            return _one(native, pointer, _Kind.ORT_OP_ATTR_FLOAT, ctypes.c_float())
        case _Kind.ORT_OP_ATTR_INTS:
            return _many(native, pointer, _Kind.ORT_OP_ATTR_INTS, ctypes.c_int64)
        case _Kind.ORT_OP_ATTR_FLOATS:
            return _many(native, pointer, _Kind.ORT_OP_ATTR_FLOATS, ctypes.c_float)
        case _Kind.ORT_OP_ATTR_STRING:
            return _text(_bytes(native, pointer, _Kind.ORT_OP_ATTR_STRING))
        case _Kind.ORT_OP_ATTR_STRINGS:
            data = _bytes(native, pointer, _Kind.ORT_OP_ATTR_STRINGS)
            return [_text(item) for item in data.split(b"\0")[:-1]]  # each ends with a NUL
        case _Kind.ORT_OP_ATTR_TENSOR:
            return _tensor(native, pointer)
    raise InputError("ONNX Runtime has no function that reads an attribute of this type")


def _name(native: Native, pointer: Any) -> str:
    out = ctypes.c_char_p()
    native.api.OpAttr_GetName(pointer, ctypes.byref(out))
    return decode(out.value)


def _kind(native: Native, pointer: Any) -> int:
    out = ctypes.c_int()
    status = native.api.raw.OpAttr_GetType(pointer, ctypes.byref(out))
    if status:  # it fails for a type that it has no name for
        native.api.ReleaseStatus(status)
        return _Kind.ORT_OP_ATTR_UNDEFINED
    return out.value


def _one(native: Native, pointer: Any, kind: int, cell: Any) -> Any:
    size = ctypes.c_size_t()
    native.api.ReadOpAttr(pointer, kind, ctypes.byref(cell), ctypes.sizeof(cell), ctypes.byref(size))
    return cell.value


def _many(native: Native, pointer: Any, kind: int, item: Any) -> list[Any]:
    data = _bytes(native, pointer, kind)
    return list((item * (len(data) // ctypes.sizeof(item))).from_buffer_copy(data))


def _bytes(native: Native, pointer: Any, kind: int) -> bytes:
    """The attribute's bytes: asked with no room, ORT fails and says how many there are."""
    size, api = ctypes.c_size_t(), native.api
    status = api.raw.ReadOpAttr(pointer, kind, None, 0, ctypes.byref(size))
    if status:
        api.ReleaseStatus(status)
    if not size.value:
        return b""
    data = ctypes.create_string_buffer(size.value)
    api.ReadOpAttr(pointer, kind, data, size.value, ctypes.byref(size))
    return data.raw


def _tensor(native: Native, pointer: Any) -> Any:
    out = ctypes.POINTER(raw.OrtValue)()
    native.api.OpAttr_GetTensorAttributeAsOrtValue(pointer, ctypes.byref(out))
    try:
        array = read(native, address(out) or 0, None, writeable=False)
        return array.copy()
    finally:
        native.api.ReleaseValue(out)


def _text(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data
