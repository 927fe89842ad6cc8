"""What a header set declares, in plain values: the one form that every stage reads or writes.

Nothing is nested: anonymous records and function-pointer parameters get a name of their own when they are
parsed, so that a type is always a base name with qualifiers, pointers and dimensions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal

from .errors import Coord, GenError

__all__ = [
    "SCALARS",
    "CType",
    "Callback",
    "Convention",
    "Enum",
    "Function",
    "Header",
    "Member",
    "Param",
    "Record",
    "Status",
]

Convention = Literal["stdcall", "cdecl"]
Status = Literal["released", "proposed", "placeholder"]

#: Every base name that is not declared by a header: C's own scalars, <stdint.h>, <stddef.h>, and the one type
#: that differs by platform (``ORTCHAR_T``: wchar_t on Windows, char elsewhere).
SCALARS = frozenset({
    "void", "bool", "char", "signed char", "unsigned char", "wchar_t", "ORTCHAR_T", "short", "unsigned short", "int",
    "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "float", "double", "long double",
    "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t",
    "uint16_t", "uint32_t", "uint64_t",
})  # fmt: skip

_TYPE = re.compile(r"(?P<const>const )?(?P<base>[A-Za-z_][\w ]*?)(?P<ptr>(?:\*(?: const)?)*)(?P<dims>(?:\[\d+\])*)")


@dataclass(frozen=True)
class CType:
    """``const base* const*[n]``: a base name, its qualifiers, its pointers (innermost first), its dimensions."""

    base: str
    const: bool = False
    pointers: tuple[bool, ...] = ()  # one entry a star: is that pointer itself const?
    dims: tuple[int, ...] = ()

    def __str__(self) -> str:
        stars = "".join("* const" if const else "*" for const in self.pointers)
        dims = "".join(f"[{n}]" for n in self.dims)
        return f"{'const ' if self.const else ''}{self.base}{stars}{dims}"

    @staticmethod
    @cache
    def parse(text: str) -> CType:
        match = _TYPE.fullmatch(text)
        if match is None or (" " in match["base"] and match["base"] not in SCALARS):
            raise GenError(f"not a type as snapshots write it: {text!r}")
        stars = re.findall(r"\*( const)?", match["ptr"])
        return CType(
            match["base"],
            bool(match["const"]),
            tuple(bool(const) for const in stars),
            tuple(int(n) for n in re.findall(r"\d+", match["dims"])),
        )

    def pointer(self, const: bool = False) -> CType:
        return CType(self.base, self.const, (*self.pointers, const), self.dims)


@dataclass(frozen=True)
class Param:
    name: str
    type: CType

    def __str__(self) -> str:
        return f"{self.type} {self.name}"

    @classmethod
    def parse(cls, text: str) -> Param:
        kind, _, name = text.rpartition(" ")
        return cls(name, CType.parse(kind))


@dataclass(frozen=True)
class Function:
    """A function pointer's type. ``stdcall`` is what ORT_API_CALL means on 32-bit Windows; elsewhere it is cdecl."""

    returns: CType
    params: tuple[Param, ...] = ()
    convention: Convention = "cdecl"

    def __str__(self) -> str:
        return f"{self.convention} {self.returns}({', '.join(map(str, self.params))})"

    def same_abi(self, other: object) -> bool:
        """Equal but for the names of the parameters."""
        return (
            isinstance(other, Function)
            and self.returns == other.returns
            and self.convention == other.convention
            and [p.type for p in self.params] == [p.type for p in other.params]
        )


@dataclass
class Member:
    """A slot of a table or a field of a struct. ``since`` is an API version: 24 is ORT 1.24."""

    name: str
    type: CType | Function
    since: int | None = None
    bits: int | None = None
    status: Status = "released"
    anonymous: bool = False
    coord: Coord | None = field(default=None, compare=False)

    def same_abi(self, other: Member) -> bool:
        if isinstance(self.type, Function):
            return self.name == other.name and self.type.same_abi(other.type)
        return (self.name, self.type, self.bits) == (other.name, other.type, other.bits)


@dataclass
class Record:
    """A struct or union with members, in order."""

    name: str
    members: list[Member]
    kind: Literal["struct", "union"] = "struct"
    pack: int | None = None
    since: int | None = None
    coord: Coord | None = field(default=None, compare=False)

    def find(self, name: str) -> tuple[int, Member] | None:
        return next(((i, m) for i, m in enumerate(self.members) if m.name == name), None)


@dataclass
class Enum:
    """``flags`` when the header writes an enumerator as a shift; the values are what C says they are."""

    name: str
    values: dict[str, int]
    flags: bool = False
    since: int | None = None
    coord: Coord | None = field(default=None, compare=False)


@dataclass
class Callback:
    """A named function-pointer type."""

    name: str
    type: Function
    since: int | None = None
    coord: Coord | None = field(default=None, compare=False)


@dataclass
class Header:
    """One header set."""

    records: dict[str, Record] = field(default_factory=dict)
    handles: list[str] = field(default_factory=list)  # structs that are only declared
    enums: dict[str, Enum] = field(default_factory=dict)
    callbacks: dict[str, Callback] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)  # exported by the library
    typedefs: dict[str, CType] = field(default_factory=dict)  # other names for the types above
    constants: dict[str, int | float | str] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)  # ``static const char* const`` strings
    skipped: dict[str, str] = field(default_factory=dict)  # macros that are no constants, with the reason
    sources: dict[str, str] = field(default_factory=dict)  # file name -> sha256
    release: str = ""

    def copy(self) -> Header:
        """A copy to add declarations and members to; what is in it already is shared and must not be changed."""
        tables: dict[str, Any] = {
            name: value.copy() for name, value in vars(self).items() if isinstance(value, (dict, list))
        }
        records = {name: replace(record, members=record.members.copy()) for name, record in self.records.items()}
        return replace(self, **(tables | {"records": records}))

    @property
    def api_version(self) -> int:
        """The version these headers were written for."""
        version = self.constants.get("ORT_API_VERSION")
        if not isinstance(version, int):
            raise GenError("these headers define no ORT_API_VERSION: is onnxruntime_c_api.h among them?")
        return version

    def knows(self, name: str) -> bool:
        """Is this a base name that a type may use?"""
        return (
            name in SCALARS
            or name in self.records
            or name in self.enums
            or name in self.callbacks
            or name in self.handles
        )
