"""A value with a label in front, for a store that must keep more than its key can say."""

from __future__ import annotations

import struct

from .flat import flat
from .protocol import Buffer

__all__ = ["frame", "label_size", "unframe"]

_MAGIC = b"ORTLABL\x01"
_HEAD = struct.Struct("<8sH")


def frame(label: str, value: Buffer) -> bytes:
    """Label and value as one value. The label is at most 65,535 bytes of UTF-8."""
    name = label.encode()
    return b"".join((_HEAD.pack(_MAGIC, len(name)), name, flat(value)))


def unframe(data: bytes) -> tuple[str, bytes] | None:
    """Label and value; None where the data is not what `frame` makes."""
    if len(data) < _HEAD.size:
        return None
    magic, length = _HEAD.unpack_from(data)
    end = _HEAD.size + length
    if magic != _MAGIC or len(data) < end:
        return None
    try:
        return data[_HEAD.size : end].decode(), data[end:]
    except UnicodeDecodeError:
        return None


def label_size(label: str) -> int:
    """How many bytes `frame` adds to a value."""
    return _HEAD.size + len(label.encode())
