"""An entry is taken back whole and by whom it was made for, or not at all."""

from __future__ import annotations

import hashlib
import struct

import pytest

from ortcache.ep.sealed import OVERHEAD, Reason, RejectedError, fingerprint, seal, unseal

MAGIC, VERSION, IDENTITY = b"MAGICNUM", 3, fingerprint({"a": 1})
PAYLOAD = b"what it is all about"
ENTRY = seal(MAGIC, VERSION, IDENTITY, PAYLOAD)


def reason(data: bytes) -> Reason:
    with pytest.raises(RejectedError) as caught:
        unseal(data, MAGIC, VERSION, IDENTITY)
    assert str(caught.value)
    return caught.value.reason


def test_an_entry_comes_back() -> None:
    assert unseal(ENTRY, MAGIC, VERSION, IDENTITY) == PAYLOAD
    assert unseal(seal(MAGIC, VERSION, IDENTITY, b""), MAGIC, VERSION, IDENTITY) == b""
    assert len(ENTRY) == OVERHEAD + len(PAYLOAD)


def test_an_entry_that_is_cut_anywhere_is_rejected() -> None:
    reasons = {reason(ENTRY[:size]) for size in range(len(ENTRY))}
    assert reasons == {Reason.SIZE}


def test_an_entry_with_any_byte_flipped_is_rejected() -> None:
    found = {}
    for place in range(len(ENTRY)):
        for bit in (1, 0x80):
            damaged = bytearray(ENTRY)
            damaged[place] ^= bit
            found.setdefault(reason(bytes(damaged)), set()).add(place)
    assert found == {
        Reason.MAGIC: set(range(8)),
        Reason.VERSION: set(range(8, 12)),
        Reason.SIZE: set(range(44, 52)),
        Reason.DIGEST: {*range(12, 44), *range(52, len(ENTRY))},
    }


def test_an_entry_of_somebody_else_is_rejected() -> None:
    assert reason(seal(b"OTHERONE", VERSION, IDENTITY, PAYLOAD)) is Reason.MAGIC
    assert reason(seal(MAGIC, VERSION + 1, IDENTITY, PAYLOAD)) is Reason.VERSION
    assert reason(seal(MAGIC, VERSION, fingerprint({"a": 2}), PAYLOAD)) is Reason.FINGERPRINT
    assert reason(ENTRY + b"\0") is Reason.SIZE
    assert reason(b"something else altogether" * 10) is Reason.MAGIC


def test_a_size_that_lies_is_rejected() -> None:
    header = struct.pack("<8sI32sQ", MAGIC, VERSION, IDENTITY, 2**64 - 1)
    assert reason(header + PAYLOAD + hashlib.sha256(header + PAYLOAD).digest()) is Reason.SIZE


def test_a_fingerprint_tells_names_values_and_their_borders_apart() -> None:
    parts = [
        {}, {"a": 1}, {"a": 2}, {"b": 1}, {"a": ""}, {"": "a"}, {"a": "1", "b": "2"}, {"a": "1b", "": "2"},
        {"ab": "12"}, {"a": "b1"}, {"a": None}, {"a": "\ud800"}, {"a": (1, 256)}, {"a": (1, 1)},
    ]  # fmt: skip
    assert len({fingerprint(p) for p in parts}) == len(parts)
    assert fingerprint({"a": 1}) == fingerprint({"a": "1"})  # a value counts as its text
