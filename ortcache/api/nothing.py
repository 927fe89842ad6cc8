"""Empty sequences and optionals without a value: the C API cannot make them, so a one-node model does.

The models are ONNX protobufs of some fifty bytes, written out here; ORT gives the value as the node's output.
"""

from __future__ import annotations

import ctypes

from .. import raw
from ..core.native import Native
from ..errors import InputError
from .typeinfo import Kind, TypeInfo
from .value import Value

__all__ = ["empty_sequence", "nothing"]


def empty_sequence(native: Native, contained: TypeInfo) -> Value:
    """A sequence of tensors with nothing in it."""
    if contained.kind != Kind.ONNX_TYPE_TENSOR or contained.element is None:
        raise InputError(
            f"an empty seq({contained}) cannot be made: ONNX has an operator for sequences of tensors only"
        )
    attribute = _text(1, "dtype") + _number(3, contained.element.code) + _number(20, 2)  # INT
    return _run(native, "SequenceEmpty", attribute, _field(4, _field(1, _tensor_type(contained))))


def nothing(native: Native, contained: TypeInfo) -> Value:
    """An optional without a value."""
    kind = _type(contained)
    attribute = _text(1, "type") + _field(14, kind) + _number(20, 13)  # TYPE_PROTO
    return _run(native, "Optional", attribute, _field(9, _field(1, kind)))


def _run(native: Native, operator: str, attribute: bytes, output: bytes) -> Value:
    """Run a node without inputs, and give its output."""
    node = _text(2, "y") + _text(4, operator) + _field(5, attribute)
    graph = _field(1, node) + _text(2, operator) + _field(12, _text(1, "y") + _field(2, output))
    model = _number(1, 8) + _field(7, graph) + _field(8, _number(2, 15))  # IR version 8, operator set 15
    api = native.api
    env, options = ctypes.POINTER(raw.OrtEnv)(), ctypes.POINTER(raw.OrtSessionOptions)()
    session, out = ctypes.POINTER(raw.OrtSession)(), ctypes.POINTER(raw.OrtValue)()
    # ORT gives the process's environment to everybody who asks for one, and counts.
    api.CreateEnv(raw.OrtLoggingLevel.ORT_LOGGING_LEVEL_WARNING, b"ortcache", ctypes.byref(env))
    try:
        api.CreateSessionOptions(ctypes.byref(options))
        api.SetIntraOpNumThreads(options, 1)
        api.CreateSessionFromArray(env, model, len(model), options, ctypes.byref(session))
        names = (ctypes.c_char_p * 1)(b"y")
        api.Run(session, None, None, None, 0, names, 1, ctypes.byref(out))
    finally:
        api.raw.ReleaseSession(session)
        api.raw.ReleaseSessionOptions(options)
        api.raw.ReleaseEnv(env)
    return Value(native, out)


# TypeProto: a tensor is field 1, a sequence 4, an optional 9.


def _tensor_type(info: TypeInfo) -> bytes:
    if info.element is None:
        raise InputError(f"{info} has no element type")
    return _field(1, _number(1, info.element.code))


def _type(info: TypeInfo) -> bytes:
    if info.kind == Kind.ONNX_TYPE_SEQUENCE and info.contained is not None:
        return _field(4, _field(1, _tensor_type(info.contained)))
    return _tensor_type(info)


# Protobuf's wire format.


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _field(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _field(field, text.encode())
