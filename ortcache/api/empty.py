"""Empty sequences: the C API cannot make one, so a model of one node does.

The model is an ONNX protobuf of some fifty bytes, written out here; ORT gives the sequence as the node's output.
"""

from __future__ import annotations

import ctypes

from .. import raw
from ..core.native import Native
from ..errors import InputError
from .element import PROTO
from .making import Made
from .typeinfo import Kind, TypeInfo

__all__ = ["empty_sequence"]

_INT = 2  # an attribute's type


def empty_sequence(native: Native, contained: TypeInfo) -> Made:
    """A sequence of tensors with nothing in it."""
    if contained.kind != Kind.ONNX_TYPE_TENSOR or contained.element is None:
        raise InputError(
            f"an empty seq({contained}) cannot be made: ONNX has an operator for sequences of tensors only"
        )
    code = PROTO.get(contained.element.code, contained.element.code)
    dtype = _text(1, "dtype") + _number(3, code) + _number(20, _INT)
    node = _text(2, "y") + _text(4, "SequenceEmpty") + _bytes(5, dtype)
    tensor = _bytes(1, _number(1, code))
    output = _text(1, "y") + _bytes(2, _bytes(4, _bytes(1, tensor)))
    graph = _bytes(1, node) + _text(2, "empty") + _bytes(12, output)
    return _run(native, _number(1, 8) + _bytes(7, graph) + _bytes(8, _number(2, 15)))  # IR version 8, operator set 15


def _run(native: Native, model: bytes) -> Made:
    """The output y of a model without inputs."""
    api = native.api
    env, options = ctypes.POINTER(raw.OrtEnv)(), ctypes.POINTER(raw.OrtSessionOptions)()
    session, out = ctypes.POINTER(raw.OrtSession)(), ctypes.POINTER(raw.OrtValue)()
    # ORT gives the process's environment to everybody who asks for one, and counts.
    api.CreateEnv(raw.OrtLoggingLevel.ORT_LOGGING_LEVEL_WARNING, b"ortcache", ctypes.byref(env))
    try:
        api.CreateSessionOptions(ctypes.byref(options))
        api.SetIntraOpNumThreads(options, 1)
        api.CreateSessionFromArray(env, model, len(model), options, ctypes.byref(session))
        api.Run(session, None, None, None, 0, (ctypes.c_char_p * 1)(b"y"), 1, ctypes.byref(out))
    finally:
        api.raw.ReleaseSession(session)
        api.raw.ReleaseSessionOptions(options)
        api.raw.ReleaseEnv(env)
    return Made(native, ctypes.addressof(out.contents))


# Protobuf's wire format.


def _varint(value: int) -> bytes:
    data = bytearray()
    while value > 127:
        data.append(value & 127 | 128)
        value >>= 7
    return bytes([*data, value])


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _bytes(field: int, data: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())
