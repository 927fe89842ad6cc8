"""Bit-fields: what every compiler and ctypes place alike is taken, the rest is refused by name."""

from __future__ import annotations

import ctypes
from itertools import product
from pathlib import Path

import pytest

from tests.support.c_headers import agrees_with_c, bound, refused

_UNSIGNED = {8: "uint8_t", 16: "uint16_t", 32: "uint32_t", 64: "uint64_t"}
_SIGNED = {8: "int8_t", 16: "int16_t", 32: "int32_t", 64: "int64_t"}


def test_runs_of_every_width_agree_with_c_bit_by_bit(tmp_path: Path) -> None:
    text = "#include <stdint.h>\n"
    for (bits, kind), start in product([*_UNSIGNED.items(), *_SIGNED.items()], (1, 3, 7)):
        sizes = [start, bits - start, bits, 1, bits // 2, bits // 2 + 1, bits - 1]
        fields = " ".join(f"{kind} f{i} : {size};" for i, size in enumerate(sizes) if size)
        text += f"struct S{kind}{start} {{ {fields} }};\n"
    counts = agrees_with_c(text, tmp_path)
    assert counts["structs"] == 25 and counts["members"] == 24 * 7 + 1


def test_neighbours_that_are_at_least_as_wide_agree_with_c(tmp_path: Path) -> None:
    text = "#include <stddef.h>\n#include <stdint.h>\n"
    before = ["uint64_t", "double", "uint32_t", "float", "int*", "long", "size_t", "int (*f)(int)"]
    for i, (left, right) in enumerate(product(before, before)):
        first = left.replace("*f", "*l") if "(" in left else f"{left} l"
        last = right.replace("*f", "*r") if "(" in right else f"{right} r"
        text += f"struct S{i} {{ char c; {first}; int a : 5; unsigned b : 28; {last}; }};\n"
    text += "struct T { short s; signed char a : 3; unsigned char b : 5; _Bool c; char d[3]; };\n"
    assert agrees_with_c(text, tmp_path)["structs"] == len(before) ** 2 + 2


@pytest.mark.parametrize("kind", [*_UNSIGNED.values(), *_SIGNED.values()])
def test_every_value_reads_back(kind: str) -> None:
    _, loaded = bound(f"#include <stdint.h>\nstruct S {{ {kind} a : 3; {kind} b : 4; {kind} c : 1; }};")
    cls = loaded.bindings.get("S")
    low = -1 if kind[0] == "i" else 0
    for a, b, c in product(range(-4 if low else 0, 4), (low * 8, 5), (low, 0)):
        value = cls(a=a, b=b, c=c)
        assert (value.a, value.b, value.c) == (a, b, c)
    assert ctypes.sizeof(cls) == int(kind.strip("uint_")) // 8


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ("_Bool a : 1;", "A.a: 1 bits of bool"),
        ("char a : 3;", "bits of char"),
        ("long a : 3;", "bits of long"),
        ("enum E a : 3;", "bits of E"),
        ("int* a : 3;", "bits of int*"),
        ("int a : 33;", "33 bits of int"),
        ("int a : -1;", "-1 bits"),
        ("int a : 3; int : 5; int b : 3;", "unnamed bit-field"),
        ("int a : 3; int : 0; int b : 3;", "unnamed bit-field"),
        ("int a : sizeof(int);", "sizeof"),
        ("int a : 3; char b;", "beside b (char)"),
        ("char b; int a : 3;", "beside b (char)"),
        ("int a : 3; short b : 3;", "beside b (short)"),
        ("short b : 3; int a : 3;", "beside a (int)"),
        ("unsigned char b : 3; short s; int a : 3;", "beside s (short)"),
        ("struct { int x; } s; int a : 3;", "beside s (A_s)"),
        ("int* p; long long a : 40;", "beside p (int*)"),
    ],
)
def test_what_compilers_place_differently_is_refused(fields: str, words: str) -> None:
    refused(f"enum E {{ P }};\nstruct A {{ {fields} }};", words, line=2)


def test_packed_structs_and_unions_of_bit_fields_are_refused() -> None:
    refused("struct __attribute__((packed)) A { int a : 3; };", "packed struct A", line=1)
    refused("#pragma pack(push, 4)\nstruct A { int a : 3; };\n#pragma pack(pop)", "packed struct A", line=2)
    refused("union A { int a : 3; unsigned b : 5; };", "union A", line=1)


def test_bit_fields_in_an_anonymous_struct(tmp_path: Path) -> None:
    text = "struct A { char c; struct { unsigned a : 3; unsigned b : 29; }; int end; };"
    assert agrees_with_c(text, tmp_path)["structs"] == 2
    _, loaded = bound(text)
    assert bytes(loaded.bindings.get("A")(b=1))[4:8] == b"\x08\0\0\0"
