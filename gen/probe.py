"""The probe's program, and what ctypes says to each of its lines."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .model import CType, Enum, Header, Member, Record
from .report import Report
from .runtime import Loaded
from .spelling import Spelling

__all__ = ["Probe"]

_HEAD = r"""#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
static void number(const char* key, long long value) { printf("%s\t%lld\n", key, value); }
static void real(const char* key, double value) { printf("%s\t%.17g\n", key, value); }
static void truth(const char* key, int value) { printf("%s\t%s\n", key, value ? "yes" : "no"); }
static void bytes(const char* key, const void* at, size_t size) {
  printf("%s\t", key);
  for (size_t i = 0; i < size; ++i) printf("%02x", ((const unsigned char*)at)[i]);
  printf("\n");
}
static void text(const char* key, const void* at, size_t unit) {
  static const char zero[8];
  size_t size = 0;
  while (memcmp((const char*)at + size, zero, unit)) size += unit;
  bytes(key, at, size);
}
"""


class Probe:
    """Lines of C with the answer that each should print.

    Args:
        loaded: the bindings that are asked.
        report: gets the counts and the problems.
    """

    def __init__(self, loaded: Loaded, report: Report) -> None:
        self.loaded = loaded
        self.report = report
        self.lines: list[str] = []
        self.answers: dict[str, tuple[str, ...]] = {}  # each of them is right

    def program(self, headers: list[Path]) -> str:
        includes = "".join(f'#include "{path.resolve().as_posix()}"\n' for path in headers)
        body = "".join(f"  {line}\n" for line in self.lines)
        return f"{includes}{_HEAD}int main(void) {{\n{body}  return 0;\n}}\n"

    def check(self, printed: str) -> None:
        """Compare what the program printed with the answers."""
        said = dict(line.split("\t", 1) for line in printed.splitlines())
        for key, answers in self.answers.items():
            if said.get(key) not in answers:
                self.report.problems.append(f"{key}: {' or '.join(answers)} here, {said.get(key)} in C")

    def ask(self, key: str, line: str, *answers: str) -> None:
        self.lines.append(line)
        self.answers[key] = answers

    def number(self, key: str, expression: str, answer: int) -> None:
        self.ask(key, f'number("{key}", (long long)({expression}));', str(_as_printed(answer)))

    # Layout.

    def records(self, header: Header, spelling: Spelling) -> None:
        anonymous = {str(m.type) for r in header.records.values() for m in r.members if m.anonymous}
        for name, record in header.records.items():
            spelt = spelling.record(name)
            if spelt is not None:
                self.record(header, record, spelling, spelt)
            elif name not in anonymous:
                self.report.problems.append(f"{record.kind} {name}: the headers have nothing of that name")

    def record(self, header: Header, record: Record, spelling: Spelling, spelt: str) -> None:
        cls = self.loaded.bindings.get(record.name)
        self.report.count("structs")
        self.number(f"sizeof {record.name}", f"sizeof({spelt})", ctypes.sizeof(cls))
        for member in _reached(header, record):
            self.report.count("members")
            where = f"{record.name}.{member.name}"
            if member.bits is not None:
                self.bits(where, member, spelt, cls)
                continue
            field = getattr(cls, member.name)
            self.number(f"offsetof {where}", f"offsetof({spelt}, {member.name})", field.offset)
            self.number(f"sizeof {where}", f"sizeof((({spelt}*)0)->{member.name})", field.size)
            kind = spelling.type(member.type)
            if kind is not None:
                self.report.count("types")
                key = f"{where} is {member.type}"
                same = f"__builtin_types_compatible_p(__typeof__((({spelt}*)0)->{member.name}), {kind})"
                self.ask(key, f'truth("{key}", {same});', "yes")

    def bits(self, where: str, member: Member, spelt: str, cls: Any) -> None:
        """Every bit set, and what it reads as then."""
        value = cls()
        setattr(value, member.name, -1)
        line = (
            f"{{ {spelt} v; memset(&v, 0, sizeof v); v.{member.name} = -1; "
            f'bytes("bits {where}", &v, sizeof v); number("value {where}", v.{member.name}); }}'
        )
        self.ask(f"bits {where}", line, bytes(value).hex())
        self.answers[f"value {where}"] = (str(_as_printed(getattr(value, member.name))),)

    # Values.

    def enums(self, header: Header) -> None:
        for enum in header.enums.values():
            self.report.count("enums")
            for name, value in enum.values.items():
                self.report.count("enumerators")
                self.number(f"{enum.name}.{name}", name, value)
                self.emitted(enum, name, value)

    def emitted(self, enum: Enum, name: str, value: int) -> None:
        """The generated class holds C's value; a flag is a mask of 32 bits there."""
        expected = value & 0xFFFFFFFF if enum.flags else value
        self.report.compare(f"{enum.name}.{name} as generated", int(self.loaded.enums[name]), expected)

    def constants(self, header: Header) -> None:
        for name, value in header.constants.items():
            self.report.count("constants")
            self.report.compare(f"{name} as generated", self.loaded.constants[name], value)
            if isinstance(value, str):
                self.text(name, value)
            elif isinstance(value, float):
                self.ask(name, f'real("{name}", {name});', f"{value:.17g}")
            else:
                self.number(name, name, value)
        for name, value in header.keys.items():
            self.report.count("keys")
            self.report.compare(f"{name} as generated", self.loaded.constants[name], value)
            self.text(name, value)

    def text(self, name: str, value: str) -> None:
        value = value.partition("\0")[0]
        forms = {value.encode(encoding).hex() for encoding in ("utf-8", "utf-16-le", "utf-32-le")}
        self.ask(name, f'text("{name}", {name}, sizeof(({name})[0]));', *sorted(forms))


def _as_printed(number: int) -> int:
    return ctypes.c_longlong(number).value


def _reached(header: Header, record: Record) -> Iterator[Member]:
    """The members by the names that C has for them: those of anonymous members as if they stood outside."""
    for member in record.members:
        if member.anonymous and isinstance(member.type, CType):
            yield from _reached(header, header.records[member.type.base])
        else:
            yield member
