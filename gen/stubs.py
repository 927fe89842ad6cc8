"""The type stub of ``ortcache.raw``: what an editor and a type checker see."""

from __future__ import annotations

import keyword
from collections.abc import Iterator

from .model import CType, Function, Header, Member, Param, Record

__all__ = ["stub"]

_SCALARS = {
    **dict.fromkeys(
        (
            "short", "int", "long", "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "long long",
            "int8_t", "int16_t", "int32_t", "int64_t", "uint8_t", "uint16_t", "uint32_t", "uint64_t", "signed char",
            "unsigned char", "unsigned short", "unsigned int", "unsigned long", "unsigned long long",
        ),
        "int",
    ),
    **dict.fromkeys(("float", "double", "long double"), "float"),
    "bool": "bool", "char": "bytes", "wchar_t": "str", "ORTCHAR_T": "bytes | str",
}  # fmt: skip

_HEAD = '''\
from collections.abc import Callable
from ctypes import Structure, Union, _CFunctionType, _Pointer
from typing import Any, Generic, Self, TypeVar, overload

from ._support import Slot
from .constants import *
from .enums import *

GENERATED_API_VERSION: int
HEADERS_API_VERSION: int

def slots(struct: str) -> list[Slot]: ...

_T = TypeVar("_T")

class _Field(Generic[_T]):
    """A member of a struct: on an instance its value, on the class its place in bytes."""

    offset: int
    size: int
    @overload
    def __get__(self, instance: None, owner: type[Any]) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: type[Any]) -> _T: ...
    def __set__(self, instance: object, value: Any) -> None: ...
'''


def stub(header: Header) -> str:
    """The text after the banner. Pointers that are passed have many faces in ctypes: they are Any."""
    return "".join(
        [
            _HEAD,
            *(f"\nclass {name}(Structure): ...\n" for name in header.handles),
            *(_callback(header, name, c.type) for name, c in header.callbacks.items()),
            *(_record(header, record) for record in header.records.values()),
        ]
    )


def _callback(header: Header, name: str, kind: Function) -> str:
    # Parameters are positional: ctypes gives a function pointer no names.
    parameters = "".join(f"{_identifier(p)}: {_given(header, p.type)}, " for p in kind.params)
    slash = "/" if kind.params else ""
    return (
        f"\nclass {name}(_CFunctionType):  # {_signature(kind)}\n"
        f"    def __call__(self, {parameters}{slash}) -> {_result(header, kind.returns, called=False)}: ...\n"
    ).replace("(self, )", "(self)")


def _record(header: Header, record: Record) -> str:
    base = "Union" if record.kind == "union" else "Structure"
    rows = "".join(_rows(header, record))
    return f"\nclass {record.name}({base}):\n{rows}"


def _rows(header: Header, record: Record, within: str = "") -> Iterator[str]:
    for index, member in enumerate(record.members):
        yield _row(header, record, index, member, within)
        if member.anonymous and isinstance(member.type, CType):  # its members are reached as if they stood here
            yield from _rows(header, header.records[member.type.base], f"{within}{member.name}.")


def _row(header: Header, record: Record, index: int, member: Member, within: str) -> str:
    since = {"proposed": "proposed", "placeholder": f"placeholder since 1.{member.since}: not to be called"}.get(
        member.status, f"since 1.{member.since}" if member.since is not None else "since unknown"
    )
    note = f"  # {within}{index}, {since}"
    if isinstance(member.type, Function):
        called = record.name.endswith(("Api", "ApiBase"))  # ORT fills these in; the others, an EP or an application
        arguments = ", ".join(_given(header, p.type) for p in member.type.params)
        kind = f"Callable[[{arguments}], {_result(header, member.type.returns, called)}]"
        note += f": {_signature(member.type)}"
    else:
        kind = _held(header, member.type)
    row = f"{member.name}: _Field[{kind}]{note}"
    return f"    # {row} (a keyword of Python: use getattr)\n" if keyword.iskeyword(member.name) else f"    {row}\n"


def _signature(kind: Function) -> str:
    return f"{kind.returns} ({', '.join(map(str, kind.params))})"


def _identifier(param: Param) -> str:
    return f"{param.name}_" if keyword.iskeyword(param.name) or param.name == "self" else param.name


def _string(kind: CType) -> str | None:
    """What a const string is in Python."""
    if len(kind.pointers) != 1 or not kind.const or kind.dims:
        return None
    return {"char": "bytes | None", "wchar_t": "str | None", "ORTCHAR_T": "bytes | str | None"}.get(kind.base)


def _plain(header: Header, kind: CType) -> str:
    """A value that is no pointer and no array."""
    if kind.base in header.enums:
        return "int"
    return _SCALARS.get(kind.base, kind.base)


def _given(header: Header, kind: CType) -> str:
    """What Python passes for a parameter."""
    if kind.pointers or kind.dims:
        return _string(kind) or "Any"
    return _plain(header, kind)


def _held(header: Header, kind: CType) -> str:
    """What Python reads from a member."""
    if kind.dims:
        return "Any"
    if not kind.pointers:
        return _plain(header, kind)
    if _string(kind):
        return _string(kind) or ""
    if len(kind.pointers) == 1 and kind.base == "void":
        return "int | None"
    known = kind.base in header.records or kind.base in header.handles
    return f"_Pointer[{kind.base}]" if known and len(kind.pointers) == 1 else "Any"


def _result(header: Header, kind: CType, called: bool) -> str:
    """What a call gives. ctypes cannot return a typed pointer from a callback: there it is an address."""
    if kind.pointers and not called:
        return "int | None"
    if kind == CType("void"):
        return "None"
    return _held(header, kind)
