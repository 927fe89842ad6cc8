"""Bit-fields: the few forms that GCC, Clang, MSVC and ctypes all lay out alike. The rest is refused."""

from __future__ import annotations

from collections.abc import Container

from .errors import Coord, UnsupportedConstruct
from .model import CType, Member, Record

__all__ = ["check_bitfields"]

#: Types whose bit-fields have one meaning. Not bool and char: ctypes writes the whole byte of the one and refuses the
#: other. Not enums and long: compilers differ on their sign and on their width.
_BITS = {
    "signed char": 8, "unsigned char": 8, "int8_t": 8, "uint8_t": 8,
    "short": 16, "unsigned short": 16, "int16_t": 16, "uint16_t": 16,
    "int": 32, "unsigned int": 32, "int32_t": 32, "uint32_t": 32,
    "long long": 64, "unsigned long long": 64, "int64_t": 64, "uint64_t": 64,
}  # fmt: skip

#: What else may stand beside one, with the least width that it has anywhere.
_NEIGHBOURS = {
    **_BITS, "bool": 8, "char": 8, "wchar_t": 16, "float": 32, "double": 64, "long": 32, "unsigned long": 32,
    "size_t": 32, "ssize_t": 32, "ptrdiff_t": 32, "intptr_t": 32, "uintptr_t": 32,
}  # fmt: skip


def check_bitfields(record: Record, words: Container[str]) -> None:
    """Refuse a struct whose bit-fields compilers would place differently.

    Args:
        words: names of enums and callbacks, which are as wide as int, or wider.

    A run of bit-fields of one width starts on a unit of that type wherever what stands before it, and what stands
    after, is at least as wide: then no compiler packs a neighbour into the unit's spare bits.
    """
    if record.pack is not None or record.kind == "union":
        what = "packed struct" if record.kind == "struct" else "union"
        raise UnsupportedConstruct(_where(record), f"bit-field in {what} {record.name}", "ctypes misplaces it")
    neighbours = [None, *record.members, None]
    for i, member in enumerate(record.members):
        if member.bits is not None:
            _check(record, member, [other for other in (neighbours[i], neighbours[i + 2]) if other], words)


def _check(record: Record, member: Member, neighbours: list[Member], words: Container[str]) -> None:
    coord = member.coord or _where(record)
    what = f"bit-field {record.name}.{member.name}"
    width = _BITS.get(str(member.type).removeprefix("const "))
    if width is None or member.bits is None or not 0 < member.bits <= width:
        raise UnsupportedConstruct(coord, what, f"{member.bits} bits of {member.type} are not the same everywhere")
    for neighbour in neighbours:
        beside = _width(neighbour, words)
        if beside < width or (neighbour.bits is not None and beside != width):
            why = f"compilers differ on where it goes beside {neighbour.name} ({neighbour.type})"
            raise UnsupportedConstruct(coord, what, why)


def _width(member: Member, words: Container[str]) -> int:
    """The least alignment of a member, in bits; 0 where it is not known."""
    if not isinstance(member.type, CType) or member.type.pointers or member.type.base in words:
        return 32
    return _NEIGHBOURS.get(member.type.base, 0)


def _where(record: Record) -> Coord:
    return record.coord or Coord("header.h", 0)
