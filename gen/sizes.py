"""How large a struct is, by arithmetic: enough to see whether a change of it moves what embeds it."""

from __future__ import annotations

from dataclasses import dataclass

from .model import CType, Function, Header, Member, Record

__all__ = ["MODELS", "Model", "layout"]

_FIXED = {
    "bool": 1, "char": 1, "signed char": 1, "unsigned char": 1, "int8_t": 1, "uint8_t": 1,
    "short": 2, "unsigned short": 2, "int16_t": 2, "uint16_t": 2,
    "int": 4, "unsigned int": 4, "int32_t": 4, "uint32_t": 4, "float": 4,
    "long long": 8, "unsigned long long": 8, "int64_t": 8, "uint64_t": 8, "double": 8,
}  # fmt: skip

_POINTER_SIZED = {"size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t"}


@dataclass(frozen=True)
class Model:
    """The sizes that differ by platform, in bytes."""

    name: str
    pointer: int
    long: int
    wide: int  # wchar_t
    path: int  # ORTCHAR_T
    long_double: int


MODELS = (
    Model("64-bit Linux and macOS", 8, 8, 4, 1, 16),
    Model("64-bit Windows", 8, 4, 2, 2, 8),
    Model("32-bit Windows", 4, 4, 2, 2, 8),
)


def layout(header: Header, record: Record, model: Model) -> tuple[int, int]:
    """Size and alignment of a struct or union in bytes."""
    size, alignment, unit_end, bits_free = 0, 1, 0, 0
    for member in record.members:
        width, align = _member(header, member, model)
        align = min(align, record.pack or align)
        alignment = max(alignment, align)
        if record.kind == "union":
            size = max(size, width)
        elif member.bits is not None and member.bits <= bits_free and size == unit_end:
            bits_free -= member.bits  # it shares the unit of the bit-field before it
        else:
            size = -(-size // align) * align + width
            unit_end, bits_free = size, 8 * width - member.bits if member.bits is not None else 0
    return -(-size // alignment) * alignment, alignment


def _member(header: Header, member: Member, model: Model) -> tuple[int, int]:
    if isinstance(member.type, Function):
        return model.pointer, model.pointer
    size, alignment = _element(header, member.type, model)
    for count in member.type.dims:
        size *= count
    return size, alignment


def _element(header: Header, kind: CType, model: Model) -> tuple[int, int]:
    if kind.pointers or kind.base in header.callbacks or kind.base in _POINTER_SIZED:
        return model.pointer, model.pointer
    if kind.base in header.records:
        return layout(header, header.records[kind.base], model)
    if kind.base in header.enums:
        return 4, 4
    differing = {
        "long": model.long, "unsigned long": model.long, "wchar_t": model.wide, "ORTCHAR_T": model.path,
        "long double": model.long_double,
    }  # fmt: skip
    size = _FIXED.get(kind.base) or differing[kind.base]
    return size, size
