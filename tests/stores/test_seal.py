"""The sealed format: whatever is done to a sealed value, it is not opened any more."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ortcache.errors import InputError
from ortcache.stores.seal import SEAL_SIZE, Flaw, Seal

SECRET = b"0123456789abcdef"
SEALS = {"checksum": Seal(), "mac": Seal(SECRET)}

#: The format of this version, byte by byte: what was stored by an earlier release must open.
STORED = bytes.fromhex(
    "4f52545345414c01"
    "d46f704d031445c2ad3825579cbecf91"
    "0500000000000000"
    "edef2c9e26a0766b736c1326c0b9b198e6ce36e0e844b993a455f79d52b30b85"
    "76616c7565"
)
KEYED = bytes.fromhex(
    "4f52545345414c01"
    "5e39932d19ca842f0e9a86c756055ea9"
    "0500000000000000"
    "4a8937de56c949b95e11503f2bfec145b05190dcc57938b31880ba3d2228a31e"
    "76616c7565"
)


@pytest.mark.parametrize("seal", SEALS.values(), ids=SEALS)
@pytest.mark.parametrize("value", [b"", b"x", b"x" * 100_000, bytes(range(256))])
def test_what_was_sealed_opens(seal: Seal, value: bytes) -> None:
    data = seal.close("key", value)
    assert len(data) == len(value) + SEAL_SIZE
    assert seal.open("key", data) == value


def test_the_format_is_what_it_was() -> None:
    assert Seal().close("key", b"value") == STORED
    assert Seal().open("key", STORED) == b"value"
    assert Seal(SECRET).close("key", b"value") == KEYED
    assert Seal(SECRET).open("key", KEYED) == b"value"


@given(value=st.binary(max_size=200), place=st.integers(0), bit=st.integers(0, 7), keyed=st.booleans())
@example(b"", 0, 0, False)
@example(b"", 7, 0, False)  # the version
@example(b"", 24, 0, False)  # the length
@example(b"value", SEAL_SIZE, 0, True)
def test_any_flipped_bit_is_seen(value: bytes, place: int, bit: int, keyed: bool) -> None:
    seal = SEALS["mac" if keyed else "checksum"]
    data = bytearray(seal.close("key", value))
    data[place % len(data)] ^= 1 << bit
    assert isinstance(seal.open("key", bytes(data)), Flaw)


@given(value=st.binary(max_size=200), cut=st.integers(1, 300), more=st.binary(min_size=1, max_size=80))
@example(b"", 64, b"\0")
def test_any_cut_and_any_rest_is_damage(value: bytes, cut: int, more: bytes) -> None:
    data = Seal().close("key", value)
    for changed in (data[: max(0, len(data) - cut)], data + more):
        flaw = Seal().open("key", changed)
        assert isinstance(flaw, Flaw) and not flaw.foreign, flaw


@given(st.binary(max_size=300))
@example(b"ORTSEAL")
@example(b"ORTSEAL\1" + bytes(56))
def test_what_was_never_sealed_does_not_open(data: bytes) -> None:
    assert isinstance(Seal().open("key", data), Flaw)
    assert isinstance(Seal(SECRET).open("key", data), Flaw)


@given(st.binary(max_size=50), st.text("ab.", min_size=1, max_size=5), st.text("ab.", min_size=1, max_size=5))
def test_a_copy_under_another_key_is_foreign(value: bytes, one: str, other: str) -> None:
    for seal in SEALS.values():
        found = seal.open(other, seal.close(one, value))
        assert found == value if one == other else isinstance(found, Flaw) and found.foreign


def test_another_mac_key_is_foreign_and_so_is_none() -> None:
    seals = [Seal(), Seal(SECRET), Seal(SECRET + b"0"), Seal(SECRET[::-1])]
    for seal in seals:
        data = seal.close("key", b"value")
        for other in seals:
            found = other.open("key", data)
            assert found == b"value" if other is seal else isinstance(found, Flaw) and found.foreign


def test_without_the_mac_key_nobody_mends_a_changed_value() -> None:
    # Whoever can write a checksum for his own value cannot write a MAC: the unkeyed head does not pass for one.
    data = Seal(SECRET).close("key", b"value")
    forged = Seal().close("key", b"other")
    for mixed in (data[:32] + forged[32:], forged[:32] + data[32:], data[:-5] + b"other"):
        assert isinstance(Seal(SECRET).open("key", mixed), Flaw)


@pytest.mark.parametrize(
    ("data", "foreign", "said"),
    [
        (b"", False, "only 0 bytes"),
        (b"ORTS", False, "only 4 bytes"),
        (b"short", True, "not sealed"),
        (b"x" * 500, True, "not sealed"),
        (STORED[:7] + b"\2" + STORED[8:], True, "format version 2, not 1"),
        (STORED[:-1], False, "4 of 5 bytes"),
        (STORED + b"!", False, "6 of 5 bytes"),
        (STORED[:-1] + b"E", False, "checksum is wrong"),
    ],
)
def test_the_reason_is_said(data: bytes, foreign: bool, said: str) -> None:
    flaw = Seal().open("key", data)
    assert isinstance(flaw, Flaw)
    assert flaw.foreign is foreign and said in flaw.reason


@pytest.mark.parametrize("key", [b"", b"short", b"x" * 65, "x" * 32, 5, bytearray(32)])
def test_what_cannot_be_a_mac_key_is_refused(key: object) -> None:
    with pytest.raises(InputError, match="16 to 64 secret bytes"):
        Seal(key)  # type: ignore[arg-type]
