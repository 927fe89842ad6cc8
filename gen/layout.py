"""Bit-fields: the few forms that GCC, Clang, MSVC and ctypes all lay out alike. The rest is refused."""

from __future__ import annotations

from .errors import Coord, UnsupportedConstruct
from .model import Member, Record

__all__ = ["check_bitfields"]

_BITS = {
    "bool": 8, "char": 8, "signed char": 8, "unsigned char": 8, "int8_t": 8, "uint8_t": 8,
    "short": 16, "unsigned short": 16, "int16_t": 16, "uint16_t": 16,
    "int": 32, "unsigned int": 32, "int32_t": 32, "uint32_t": 32,
    "long long": 64, "unsigned long long": 64, "int64_t": 64, "uint64_t": 64,
}  # fmt: skip


def check_bitfields(record: Record) -> None:
    """Refuse a struct whose bit-fields compilers would place differently.

    A run of bit-fields of one type starts on a unit of that type wherever what stands before it, and what stands
    after, is at least as wide: then no compiler packs a neighbour into the unit's spare bits.
    """
    if not any(m.bits is not None for m in record.members):
        return
    if record.pack is not None:
        raise UnsupportedConstruct(_where(record), f"bit-field in packed {record.name}", "compilers differ here")
    for before, member, after in zip(
        [None, *record.members], record.members, [*record.members[1:], None], strict=False
    ):
        if member.bits is not None:
            _check(record, before, member, after)


def _check(record: Record, before: Member | None, member: Member, after: Member | None) -> None:
    coord = member.coord or _where(record)
    what = f"bit-field {record.name}.{member.name}"
    width = _width(member)
    if width is None or member.bits is None or not 0 < member.bits <= width:
        raise UnsupportedConstruct(coord, what, f"{member.bits} bits of {member.type}")
    if record.kind == "union":
        return
    for neighbour in (before, after):
        if neighbour is None:
            continue
        same_run = neighbour.bits is not None and neighbour.type == member.type
        other = _width(neighbour)
        wide = neighbour.bits is None and other is not None and other >= width
        if not same_run and not wide:
            raise UnsupportedConstruct(
                coord, what, f"compilers differ on where it goes beside {neighbour.name} ({neighbour.type})"
            )


def _width(member: Member) -> int | None:
    """Bits of the member's own type; 64 for a pointer; None where the table does not say."""
    if not hasattr(member.type, "base"):
        return 64
    if member.type.dims:
        return None
    return 64 if member.type.pointers else _BITS.get(member.type.base)


def _where(record: Record) -> Coord:
    return record.coord or Coord("header.h", 0)
