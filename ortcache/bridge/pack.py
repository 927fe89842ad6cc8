"""Several files as one value, so that what belongs together is stored together or not at all.

A pack is 8 bytes of magic and format version, the header's length (4, little-endian) and its SHA-256 (32), the header,
and the files' contents one behind the other. The header is JSON: for each file its name, size, CRC-32, and for how many
packs in a row nobody has used it.

Whoever can write into the store may have made a pack: it is checked in full before one file is written.
"""

from __future__ import annotations

import hashlib
import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from ..keys import is_reserved

__all__ = ["MAX_FILES", "Member", "Pack", "file_name_problem", "make_pack", "read_pack"]

_MAGIC = b"ORTPACK\x01"
_HEAD = struct.Struct("<8sI32s")

#: Files of one pack, and bytes of a header: far above what a provider writes, far below what hurts.
MAX_FILES = 10_000
_MAX_HEADER = 16 << 20

_MAX_NAME, _MAX_PART, _MAX_DEPTH = 1024, 255, 32  # bytes of a name, bytes of a part, parts

#: Separators, drives and streams of Windows, and what no file name should hold.
_UNSAFE = set('\\:*?"<>|') | {chr(code) for code in range(32)} | {"\x7f"}


@dataclass(frozen=True)
class Member:
    """One file of a pack.

    Attributes:
        name: relative, with ``/`` between its parts.
        size: bytes.
        crc: CRC-32 of its content.
        idle: packs in a row in which it was kept without having been used.
    """

    name: str
    size: int
    crc: int = 0
    idle: int = 0


@dataclass(frozen=True)
class Pack:
    """A pack that was read and found whole.

    Attributes:
        members: its files.
        digest: hex, of the header: it tells two packs apart.
        body: the contents.
    """

    members: tuple[Member, ...]
    digest: str
    body: memoryview

    def contents(self) -> Iterator[tuple[Member, memoryview]]:
        """Each file with its content."""
        start = 0
        for member in self.members:
            yield member, self.body[start : start + member.size]
            start += member.size


def file_name_problem(name: object) -> str | None:
    """What is wrong with a file's name in a pack, or None: it must be safe below any folder on any system."""
    if not isinstance(name, str):
        return "it is no text"
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "it is not Unicode"
    parts = name.split("/")
    if size > _MAX_NAME or len(parts) > _MAX_DEPTH:
        return "it is too long"
    for part in parts:
        if part in ("", ".", ".."):
            return "it does not stay in its folder"
        if _UNSAFE.intersection(part) or len(part.encode()) > _MAX_PART or part[-1] in ". " or is_reserved(part):
            return f"{part!r} is no file name on every system"
    return None


def make_pack(
    members: Iterable[Member], read: Callable[[str, memoryview], None]
) -> tuple[bytearray, tuple[Member, ...]]:
    """A pack of these files.

    Args:
        members: names, sizes and idle counts.
        read: fills the memory that it is given with the content of the file of that name.

    Returns:
        The value, and the members with their checksums.
    """
    planned = tuple(members)
    start = _HEAD.size + len(_header(planned))
    value = bytearray(start + sum(member.size for member in planned))
    done = []
    with memoryview(value) as view:
        place = start
        for member in planned:
            content = view[place : place + member.size]
            read(member.name, content)
            done.append(replace(member, crc=zlib.crc32(content)))
            place += member.size
        header = _header(done)
        _HEAD.pack_into(view, 0, _MAGIC, len(header), hashlib.sha256(header).digest())
        view[_HEAD.size : start] = header
    return value, tuple(done)


def read_pack(data: bytes | memoryview, *, checked: bool = False) -> Pack | str:
    """The pack, or what is wrong with it.

    Args:
        checked: the contents are known to be as they were stored.
    """
    view = memoryview(data)
    if len(view) < _HEAD.size or view[: len(_MAGIC)] != _MAGIC:
        known = view[: len(_MAGIC) - 1] == _MAGIC[:-1] and len(view) >= _HEAD.size
        return f"it has format version {view[7]}, not {_MAGIC[7]}" if known else "it is no pack"
    _, length, digest = _HEAD.unpack_from(view)
    header, body = view[_HEAD.size : _HEAD.size + length], view[_HEAD.size + length :]
    if length > _MAX_HEADER or len(header) != length or hashlib.sha256(header).digest() != digest:
        return "its header is damaged"
    try:
        members = _members(json.loads(bytes(header)))
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        return f"its header is wrong: {error}"
    pack = Pack(members, digest.hex(), body)
    if sum(member.size for member in members) != len(body):
        return f"it holds {len(body)} bytes, and its header says {sum(member.size for member in members)}"
    for member, content in pack.contents():
        if not checked and zlib.crc32(content) != member.crc:
            return f"the content of {member.name!r} is damaged"
    return pack


def _header(members: Iterable[Member]) -> bytes:
    # The checksum as eight digits: the header's length is known before the contents are.
    rows = [[member.name, member.size, f"{member.crc:08x}", member.idle] for member in members]
    return json.dumps({"files": rows}, separators=(",", ":")).encode()


def _members(header: Any) -> tuple[Member, ...]:
    rows = header["files"]
    if not isinstance(rows, list) or len(rows) > MAX_FILES:
        raise ValueError("no list of files, or too many of them")
    members = tuple(_member(*row) for row in rows)
    names = {member.name for member in members}
    folders = {folder for name in names for folder in _folders(name)}
    if len(names) != len(members) or names & folders:
        raise ValueError("two files have one name")
    return members


def _member(name: object, size: object, crc: object, idle: object) -> Member:
    problem = file_name_problem(name)
    if problem:
        raise ValueError(f"the file name {name!r}: {problem}")
    if type(size) is not int or type(idle) is not int or size < 0 or idle < 0:
        raise ValueError("a size or count that is none")
    return Member(str(name), size, int(str(crc), 16), idle)


def _folders(name: str) -> Iterator[str]:
    while "/" in name:
        name = name.rpartition("/")[0]
        yield name
