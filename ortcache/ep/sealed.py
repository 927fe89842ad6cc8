"""A format for what an execution provider keeps in a cache: it takes back its own and nothing else.

An entry is: magic, format version, fingerprint of all that the payload depends on, size, payload, SHA-256 of all that.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Mapping
from enum import Enum

__all__ = ["OVERHEAD", "Reason", "RejectedError", "fingerprint", "seal", "unseal"]

_HEADER = struct.Struct("<8sI32sQ")
_DIGEST = 32

#: Bytes of an entry besides its payload.
OVERHEAD = _HEADER.size + _DIGEST


class Reason(Enum):
    """Why an entry is not taken."""

    MAGIC = "magic"  # it is something else
    VERSION = "version"  # of another format version
    SIZE = "size"  # cut off, or with something behind it
    DIGEST = "digest"  # damaged
    FINGERPRINT = "fingerprint"  # made for something else
    PAYLOAD = "payload"  # whole, and yet not what it should be


class RejectedError(Exception):
    """An entry is not the provider's own.

    Attributes:
        reason: why.
    """

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def fingerprint(parts: Mapping[str, object]) -> bytes:
    """32 bytes that differ where any name or value does; a value counts as its text."""
    digest = hashlib.sha256()
    for name, value in parts.items():
        for text in (name, str(value)):
            data = text.encode("utf-8", "surrogatepass")
            digest.update(struct.pack("<Q", len(data)) + data)
    return digest.digest()


def seal(magic: bytes, version: int, identity: bytes, payload: bytes) -> bytes:
    """An entry.

    Args:
        magic: 8 bytes.
        identity: a `fingerprint`.
    """
    body = _HEADER.pack(magic, version, identity, len(payload)) + payload
    return body + hashlib.sha256(body).digest()


def unseal(data: bytes, magic: bytes, version: int, identity: bytes) -> bytes:
    """The payload of an entry.

    Raises:
        RejectedError: it is not one of this magic, version and fingerprint, or it is damaged.
    """
    if data[: len(magic)] != magic[: len(data)]:
        raise RejectedError(Reason.MAGIC, "it is something else")
    if len(data) < OVERHEAD:
        raise RejectedError(Reason.SIZE, f"it is cut off after {len(data)} bytes")
    _, found_version, found_identity, size = _HEADER.unpack_from(data)
    if found_version != version:
        raise RejectedError(Reason.VERSION, f"it is of format version {found_version}, not {version}")
    if len(data) != OVERHEAD + size:
        raise RejectedError(Reason.SIZE, f"it has {len(data)} bytes, not {OVERHEAD + size}")
    if hashlib.sha256(data[:-_DIGEST]).digest() != data[-_DIGEST:]:
        raise RejectedError(Reason.DIGEST, "it is damaged: its digest is another")
    if found_identity != identity:
        raise RejectedError(Reason.FINGERPRINT, "it was made for something else: another model, version or option")
    return data[_HEADER.size : -_DIGEST]
