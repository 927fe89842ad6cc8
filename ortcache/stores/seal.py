"""What goes in front of a value, so that damage and foreign values are seen before anybody uses it.

A sealed value is 64 bytes and the value: 7 of magic, 1 of format version, 16 of identity (a hash of the entry's name),
8 of length (little-endian), 32 of checksum. That is a hash of what is before it and of the value's CRC-32; with a MAC
key both hashes are keyed, and the value itself is hashed.

CRC-32 finds accidents, of which it misses one in four billion, and takes a fifth of a cryptographic hash's time: a warm
start waits for it. Such a hash without a key would find no more: whoever means to change a value can compute it too.
The others are BLAKE2b, which has a keyed mode and does not hang on instructions that many servers lack.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
import zlib
from dataclasses import dataclass

from ..errors import InputError
from .flat import flat
from .protocol import Buffer

__all__ = ["SEAL_SIZE", "Flaw", "Seal", "is_sealed"]

_MAGIC = b"ORTSEAL"
_VERSION = 1
_HEAD = struct.Struct("<7sB16sQ")
_CHECKSUM = 32

#: Bytes that a seal adds to a value.
SEAL_SIZE = _HEAD.size + _CHECKSUM


@dataclass(frozen=True)
class Flaw:
    """Why a value cannot be used.

    Attributes:
        foreign: it is whole as far as one can tell, but not of this seal: not sealed, of another format version or MAC
            key, or another entry's. Otherwise it is damaged.
        reason: in words.
    """

    foreign: bool
    reason: str


def is_sealed(start: bytes) -> bool:
    """Does a value begin as a sealed one? Eight bytes are enough. It says nothing of whether it is whole."""
    return start.startswith(_MAGIC)


class Seal:
    """Seals and opens values.

    Args:
        mac_key: 16 to 64 secret bytes, for a MAC in place of the checksum: only who has them can make a value.

    Raises:
        InputError: it is no such key.
    """

    def __init__(self, mac_key: bytes | None = None) -> None:
        if mac_key is not None and (not isinstance(mac_key, bytes) or not 16 <= len(mac_key) <= 64):
            raise InputError("a MAC key is 16 to 64 secret bytes, such as secrets.token_bytes(32) gives once")
        self.keyed = mac_key is not None
        self._key = mac_key or b""

    def close(self, name: str, value: Buffer) -> bytes:
        """The value of the entry with that name, sealed."""
        data = flat(value)
        head = _HEAD.pack(_MAGIC, _VERSION, self._identity(name), len(data))
        return b"".join((head, self._checksum(head, data), data))

    def open(self, name: str, data: bytes) -> memoryview | Flaw:
        """The value, which is a part of the data, or what is wrong with it."""
        if len(data) < SEAL_SIZE:
            start = data[: len(_MAGIC)]
            foreign = not _MAGIC.startswith(start)
            return Flaw(foreign, "it is not sealed" if foreign else f"only {len(data)} bytes are left of it")
        magic, version, identity, length = _HEAD.unpack_from(data)
        if magic != _MAGIC:
            return Flaw(True, "it is not sealed")
        if version != _VERSION:
            return Flaw(True, f"it has format version {version}, not {_VERSION}")
        if not hmac.compare_digest(identity, self._identity(name)):
            return Flaw(True, "it is another entry's, or sealed with another MAC key")
        if len(data) != SEAL_SIZE + length:
            return Flaw(False, f"it has {len(data) - SEAL_SIZE} of {length} bytes")
        view = memoryview(data)
        checksum = self._checksum(view[: _HEAD.size], view[SEAL_SIZE:])
        if not hmac.compare_digest(checksum, view[_HEAD.size : SEAL_SIZE]):
            return Flaw(False, f"its {'MAC' if self.keyed else 'checksum'} is wrong")
        return view[SEAL_SIZE:]

    def _identity(self, name: str) -> bytes:
        return hashlib.blake2b(name.encode(), digest_size=16, key=self._key, person=b"ortcache name").digest()

    def _checksum(self, head: bytes | memoryview, value: memoryview) -> bytes:
        checksum = hashlib.blake2b(head, digest_size=_CHECKSUM, key=self._key, person=b"ortcache seal")
        checksum.update(value if self.keyed else zlib.crc32(value).to_bytes(4, "little"))
        return checksum.digest()
