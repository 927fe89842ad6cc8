"""Several files as one value, and values that are no such thing."""

from __future__ import annotations

import hashlib
import json
import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ortcache.bridge.pack import MAX_FILES, Member, Pack, file_name_problem, make_pack, read_pack

FILES = {"engine.bin": b"engine" * 100, "sub/profile": b"profile", "empty": b""}


def packed(files: dict[str, bytes]) -> bytes:
    def read(name: str, into: memoryview) -> None:
        into[:] = files[name]

    return bytes(make_pack([Member(name, len(content)) for name, content in files.items()], read)[0])


def contents(data: bytes) -> dict[str, bytes]:
    pack = read_pack(data)
    assert isinstance(pack, Pack)
    return {member.name: bytes(content) for member, content in pack.contents()}


def forged(header: object, body: bytes = b"") -> bytes:
    """A pack whose header says what we like, with a right checksum."""
    text = json.dumps(header).encode()
    return struct.pack("<8sI32s", b"ORTPACK\x01", len(text), hashlib.sha256(text).digest()) + text + body


def row(name: object, content: bytes = b"", **changed: object) -> list[object]:
    values = {"size": len(content), "crc": f"{zlib.crc32(content):08x}", "idle": 0, **changed}
    return [name, *values.values()]


def test_what_is_packed_comes_out() -> None:
    assert contents(packed(FILES)) == FILES
    assert contents(packed({})) == {}


def test_a_pack_keeps_how_long_a_file_was_idle() -> None:
    value, members = make_pack([Member("a", 1, idle=2)], lambda name, into: into.__setitem__(0, 7))
    pack = read_pack(bytes(value))
    assert isinstance(pack, Pack)
    assert pack.members == members == (Member("a", 1, zlib.crc32(b"\x07"), 2),)


def test_packs_of_other_contents_have_other_digests() -> None:
    packs = [read_pack(packed({"a": content})) for content in (b"1", b"2", b"1")]
    digests = [pack.digest for pack in packs if isinstance(pack, Pack)]
    assert digests[0] == digests[2] != digests[1]


def test_every_damaged_byte_is_found() -> None:
    data = packed({"a": b"content", "b/c": b"\0\1"})
    for place in range(len(data)):
        for change in (1, 128):
            damaged = bytearray(data)
            damaged[place] ^= change
            assert isinstance(read_pack(bytes(damaged)), str), place


def test_every_cut_and_every_addition_is_found() -> None:
    data = packed({"a": b"content"})
    for length in range(len(data)):
        assert isinstance(read_pack(data[:length]), str)
    assert isinstance(read_pack(data + b"x"), str)


@given(st.binary(max_size=200))
def test_what_is_no_pack_is_refused(data: bytes) -> None:
    assert isinstance(read_pack(data), str)
    assert isinstance(read_pack(b"ORTPACK\x01" + data), str)


def test_a_pack_of_another_format_version_is_refused() -> None:
    assert read_pack(packed(FILES).replace(b"ORTPACK\x01", b"ORTPACK\x02", 1)) == "it has format version 2, not 1"


def test_contents_that_were_checked_are_not_checked_again() -> None:
    damaged = bytearray(packed({"a": b"content"}))
    damaged[-1] ^= 1
    assert isinstance(read_pack(bytes(damaged), checked=True), Pack)


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/../b", "a/..", "/x", "//x", "a//b", "a/", "./a", "C:\\x", "C:x", "a\\b", "a\0b", "a\nb",
     "con", "sub/NUL.bin", "a.", "a ", "x" * 256, "/".join("x" * 40), "é" * 600, "\ud800", "a:b", None, 3, ["a"]],
)  # fmt: skip
def test_an_unsafe_name_is_refused(name: object) -> None:
    assert file_name_problem(name)
    problem = read_pack(forged({"files": [row(name)]}))
    assert isinstance(problem, str) and "header" in problem


@pytest.mark.parametrize("name", ["a", "a/b/c.d", "型 é.engine", ".hidden", "x" * 255, "a..b", "con2"])
def test_a_safe_name_is_taken(name: str) -> None:
    assert contents(packed({name: b"x"})) == {name: b"x"}


@pytest.mark.parametrize(
    "header",
    [
        [], "files", None, 7, {}, {"files": None}, {"files": {}}, {"files": [[]]}, {"files": [None]},
        {"files": ["abcd"]},
        {"files": [row("a"), row("a")]},
        {"files": [row("a"), row("a/b")]},
        {"files": [row("a/b/c"), row("a/b")]},
        {"files": [row("a", size=-1)]},
        {"files": [row("a", size=1.0)]},
        {"files": [row("a", size=True)]},
        {"files": [row("a", size=1)]},
        {"files": [row("a", size=1 << 80)]},
        {"files": [row("a", size=5), row("b", size=-5)]},
        {"files": [row("a", crc="nothex")]},
        {"files": [row("a", crc=None)]},
        {"files": [row("a", idle="0")]},
        {"files": [row("a", idle=-1)]},
        {"files": [[*row("a"), 1]]},
        {"files": [row(f"f{number}") for number in range(MAX_FILES + 1)]},
    ],
)  # fmt: skip
def test_a_header_that_lies_or_is_none_is_refused(header: object) -> None:
    assert isinstance(read_pack(forged(header)), str)


def test_a_header_that_is_nested_too_deep_is_refused() -> None:
    text = b"[" * 100_000
    assert isinstance(
        read_pack(struct.pack("<8sI32s", b"ORTPACK\x01", len(text), hashlib.sha256(text).digest()) + text), str
    )


def test_contents_longer_than_the_header_says_are_refused() -> None:
    assert isinstance(read_pack(forged({"files": [row("a", b"x")]}, b"xy")), str)
    assert contents(forged({"files": [row("a", b"x")]}, b"x")) == {"a": b"x"}
