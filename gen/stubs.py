"""The type stub of ``ortcache.raw``: what an editor and a type checker see."""

from __future__ import annotations

from .model import CType, Function, Header, Member, Record

__all__ = ["stub"]

_INTEGERS = {
    "wchar_t", "short", "int", "long", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "long long",
    "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "signed char",
    "unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned long long",
}  # fmt: skip


def stub(header: Header) -> str:
    """The text after the banner."""
    parts = [
        "from collections.abc import Callable\nfrom ctypes import Structure, Union, _CFunctionType\n"
        "from typing import Any\n\n"
        "from ._support import Slot\nfrom .constants import *\nfrom .enums import *\n\n"
        "GENERATED_API_VERSION: int\nHEADERS_API_VERSION: int\n\n"
        "def slots(struct: str) -> list[Slot]: ...\n",
        *(f"\nclass {name}(Structure): ...\n" for name in header.handles),
        *(_callback(name, c.type) for name, c in header.callbacks.items()),
        *(_record(header, record) for record in header.records.values()),
    ]
    return "".join(parts)


def _callback(name: str, kind: Function) -> str:
    return f"\n# {kind.returns} {name}({', '.join(map(str, kind.params))})\nclass {name}(_CFunctionType): ...\n"


def _record(header: Header, record: Record) -> str:
    base = "Union" if record.kind == "union" else "Structure"
    rows = "".join(_member(header, i, m) for i, m in enumerate(record.members))
    return f"\nclass {record.name}({base}):\n{rows}"


def _member(header: Header, index: int, member: Member) -> str:
    since = "proposed" if member.status == "proposed" else f"since 1.{member.since}" if member.since else "since unknown"
    note = f"  # {index}, {since}"
    if isinstance(member.type, Function):
        arguments = ", ".join(_python(header, p.type) for p in member.type.params)
        names = ", ".join(p.name for p in member.type.params)
        return f"    {member.name}: Callable[[{arguments}], {_python(header, member.type.returns)}]{note} ({names})\n"
    return f"    {member.name}: {_python(header, member.type)}{note}\n"


def _python(header: Header, kind: CType) -> str:
    """What Python passes or gets for a C type. Pointers have many faces in ctypes: Any."""
    if kind.dims:
        return "Any"
    if len(kind.pointers) == 1 and kind.const and kind.base == "char":
        return "bytes | None"
    if kind.pointers:
        return "Any"
    if kind.base in _INTEGERS or kind.base in header.enums:
        return "int"
    return {"void": "None", "bool": "bool", "float": "float", "double": "float", "char": "bytes"}.get(kind.base, "Any")
