"""Constant expressions: C's value on every platform, or a refusal that says why."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.c_headers import agrees_with_c, parsed, refused

#: Each is an enumerator; the compiler is asked for the value of all at once.
RIGHT = {
    "1 << 4": 16, "1 << 31": -(1 << 31), "(0x1000)": 4096, "-1": -1, "~0": -1, "!5": 0, "!0": 1, "~!0": -2, "+3": 3,
    "010": 8, "0b101": 5, "1'000": 1000, "0x10u": 16, "10ULL": 10, "3L": 3, "0XfF": 255, "4294967295 - 4294967290": 5,
    "'a'": 97, "'\\n'": 10, "'\\\\'": 92, "'\\''": 39, "'\\0'": 0, "'\\101'": 65, "'\\x41'": 65, "L'a'": 97, "u'b'": 98,
    "7 / 2": 3, "-7 / 2": -3, "-7 % 3": -1, "7 % -3": 1, "5 > 3 && 2": 1, "0 || 0": 0, "0 && 1 / 0": 0, "1 || 1 / 0": 1,
    "1 ? 2 : 3": 2, "0 ? 2 : 3": 3, "2 + 3 * 4 - 1": 13, "(2 + 3) * 4": 20, "0xf0 | 0x0f": 255, "6 & 3": 2, "6 ^ 3": 5,
    "-8 >> 1": -4, "1 == 1": 1, "1 != 1": 0, "2 <= 2": 1, "3 >= 4": 0, "-1 < 1": 1, "-1 < 1u": 0,
    "(int)3": 3, "(unsigned char)300": 44, "(signed char)200": -56, "(short)70000": 4464, "(_Bool)7": 1,
    "(long)5": 5, "(unsigned)-1 / 2": 2147483647, "(char)65": 65, "(unsigned short)-1": 65535,
    "0x7fffffff": 2147483647, "0u - 1 > 0": 1, "(1 ? -1 : 0u) > 0": 1, "'a' + 1": 98,
    "BEFORE | 1": 3, "BEFORE << 2": 8, "-BEFORE": -2, "(int)(BEFORE * 1LL)": 2,
}  # fmt: skip


def test_values_are_those_of_c(tmp_path: Path) -> None:
    rows = "".join(f"  V{i} = {text},\n" for i, text in enumerate(RIGHT))
    text = f"enum E {{\n  BEFORE = 2,\n{rows}}};\n"
    values = parsed(text).enums["E"].values
    assert {text: values[f"V{i}"] for i, text in enumerate(RIGHT)} == RIGHT
    assert agrees_with_c(text.replace("0b101", "5").replace("1'000", "1000"), tmp_path)["enumerators"] == len(RIGHT) + 1


def test_implicit_values_follow_explicit_ones() -> None:
    text = "enum E { A, B, C = -5, D, F = 1 << 3, G, H = B, I = 0x80000000, J, };"
    refused(text, "do not fit one 32-bit type")
    values = parsed(text.replace(" C = -5, D,", "")).enums["E"].values
    assert values == {"A": 0, "B": 1, "F": 8, "G": 9, "H": 1, "I": 0x80000000, "J": 0x80000001}


def test_enumerators_of_an_unsigned_enum_compute_as_unsigned() -> None:
    assert parsed("enum E { A = 0x80000000, B = A >> 31, C = (A << 1) + 7 };").enums["E"].values == {
        "A": 0x80000000, "B": 1, "C": 7,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sizeof(int)", "sizeof"),
        ("_Alignof(int)", "_Alignof"),
        ("f(3)", "f(...)"),
        ("unknown", "unknown"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "division by zero"),
        ("1 ? 1 : 1 / 0", "division by zero"),
        ("1 << 32", "shift by 32"),
        ("1 << -1", "shift by -1"),
        ("3 << 31", "3 << 31"),
        ("2147483647 + 1", "overflows"),
        ("-(-2147483647 - 1)", "overflows"),
        ("65536 * 65536", "overflows"),
        ("1.5", "1.5"),
        ('"a"', "not an integer"),
        ("'ab'", "up to the compiler"),
        ("'\\x80'", "up to the compiler"),
        ("'\\777'", "no byte"),
        ("'\\q'", "no such escape"),
        ("'\u00e9'", "up to the compiler"),
        ("(1, 2)", "ExprList"),
        ("1L << 31", "differs between platforms"),
        ("(char)200", "differs between platforms"),
        ("(unsigned long)-1 > 4294967295u", "differs between platforms"),
        ("(int)((size_t)-1 >> 31)", "differs between platforms"),
        ("(float)1", "cast"),
        ("(int*)1", "cast"),
        ("1LL << 40", "wider than 32 bits"),
        ("0xFFFFFFFF + 1LL", "wider than 32 bits"),
        ("99999999999999999999", "does not fit"),
        ("&5", "not a constant operator"),
    ],
)
def test_what_has_no_one_value_is_refused(text: str, words: str) -> None:
    refused(f"enum E {{ A =\n{text} }};", words)


def test_an_implicit_value_that_overflows_is_refused() -> None:
    refused("enum E { A = 0x7fffffff,\nB };", "B: it overflows int", line=2)
    refused("enum E { A = 0xffffffff,\nB };", "wider than 32 bits", line=2)


def test_array_sizes_are_expressions_too() -> None:
    header = parsed("#define N (1 << 2)\nenum { M = 3 }; struct A { int a[N * M + 'a' - 97]; };")
    assert str(header.records["A"].members[0].type) == "int[12]"
    refused("struct A { int a[-1]; };", "a[-1]")
