"""A shared object written from Python: exported functions that jump to addresses in this process.

ORT loads a plugin execution provider by opening a shared library and looking up two functions in it. The one written
here holds nothing else: a symbol table, and for each function a jump to a ctypes callback.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["MACHINES", "shared_object"]


@dataclass(frozen=True)
class Machine:
    """What differs between processors."""

    number: int  # e_machine
    page: int
    code: bytes  # ends where the address follows
    after: bytes  # what follows the address


#: By `platform.machine`. Both sequences jump through a register that the calling convention leaves free.
MACHINES = {
    # endbr64; movabs rax, address; jmp rax
    "x86_64": Machine(62, 0x1000, b"\xf3\x0f\x1e\xfa\x48\xb8", b"\xff\xe0"),
    # bti c; ldr x16, address; br x16; nop, so that the address lies on 8 bytes
    "aarch64": Machine(183, 0x10000, bytes.fromhex("5f2403d5 70000058 00021fd6 1f2003d5"), b""),
}

_EHDR, _PHDR, _SYM = 64, 56, 24
_PT_LOAD, _PT_DYNAMIC, _PT_GNU_STACK = 1, 2, 0x6474E551
_DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT = 4, 5, 6, 10, 11
_READ, _WRITE, _EXECUTE = 4, 2, 1


def shared_object(machine: str, functions: Mapping[str, int]) -> bytes:
    """The bytes of an ELF shared object.

    Args:
        machine: a key of `MACHINES`.
        functions: exported name to the address it jumps to, which is valid in this process only.
    """
    target = MACHINES[machine]
    strings, names = _string_table(functions)
    code, offsets = _code(target, functions)
    symbols_at = _EHDR + _PHDR * 4
    strings_at = symbols_at + _SYM * (len(functions) + 1)
    hash_at = _aligned(strings_at + len(strings), 8)
    hashes = _hash_table(len(functions) + 1)
    code_at = _aligned(hash_at + len(hashes), 16)
    read_end = code_at + len(code)
    dynamic_at = _aligned(read_end, target.page)  # a page of its own: the loader writes here
    dynamic = b"".join(
        struct.pack("<QQ", tag, value)
        for tag, value in (
            (_DT_HASH, hash_at),
            (_DT_STRTAB, strings_at),
            (_DT_SYMTAB, symbols_at),
            (_DT_STRSZ, len(strings)),
            (_DT_SYMENT, _SYM),
            (0, 0),
        )
    )
    symbols = bytes(_SYM) + b"".join(
        struct.pack("<IBBHQQ", names[name], 0x12, 0, 1, code_at + offset, 0) for name, offset in offsets.items()
    )
    image = bytearray(dynamic_at + len(dynamic))
    image[:_EHDR] = _header(target)
    for i, segment in enumerate(
        (
            (_PT_LOAD, _READ | _EXECUTE, 0, read_end, target.page),
            (_PT_LOAD, _READ | _WRITE, dynamic_at, len(dynamic), target.page),
            (_PT_DYNAMIC, _READ | _WRITE, dynamic_at, len(dynamic), 8),
            (_PT_GNU_STACK, _READ | _WRITE, 0, 0, 16),
        )
    ):
        kind, flags, at, size, align = segment
        start = _EHDR + _PHDR * i
        image[start : start + _PHDR] = struct.pack("<IIQQQQQQ", kind, flags, at, at, at, size, size, align)
    for at, data in (
        (symbols_at, symbols), (strings_at, strings), (hash_at, hashes), (code_at, code), (dynamic_at, dynamic)
    ):  # fmt: skip
        image[at : at + len(data)] = data
    return bytes(image)


def _header(target: Machine) -> bytes:
    identity = b"\x7fELF\x02\x01\x01" + bytes(9)  # 64 bits, little-endian, current, System V
    return identity + struct.pack("<HHIQQQIHHHHHH", 3, target.number, 1, 0, _EHDR, 0, 0, _EHDR, _PHDR, 4, 64, 0, 0)


def _string_table(functions: Mapping[str, int]) -> tuple[bytes, dict[str, int]]:
    table, places = b"\0", {}
    for name in functions:
        places[name] = len(table)
        table += name.encode() + b"\0"
    return table, places


def _code(target: Machine, functions: Mapping[str, int]) -> tuple[bytes, dict[str, int]]:
    code, places = b"", {}
    for name, address in functions.items():
        places[name] = len(code)
        code += (target.code + struct.pack("<Q", address) + target.after).ljust(32, b"\0")
    return code, places


def _hash_table(symbols: int) -> bytes:
    """One bucket, and a chain through every symbol."""
    chain = [0, *(range(symbols - 1))]
    return struct.pack(f"<{3 + symbols}I", 1, symbols, symbols - 1, *chain)


def _aligned(value: int, unit: int) -> int:
    return -(-value // unit) * unit
