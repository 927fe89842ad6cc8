"""Macros: constants with C's value, and every other one on the list with its reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.c_headers import agrees_with_c, parsed

CONSTANTS: dict[str, int | float | str] = {
    "1": 1, "(0x1000)": 4096, "-1": -1, "(A + LATER)": 6, "10ULL": 10, "0xFFFFFFFFu": 4294967295,
    "9999999999": 9999999999, "1'000'000": 1000000, "0b101": 5, "'x'": 120, "3 + 4 * 2": 11, "(1 ? 2 : 3)": 2,
    "VERSION(1, 2)": 258, "INT64_C(5)": 5, "((int)7)": 7, "((uint8_t)300)": 44, "((MY_INT)7)": 7, "ENUMERATOR": 9,
    "(ENUMERATOR | 4)": 13, "true": 1, "18446744073709551615ULL": 18446744073709551615, "INT32_MAX": 2147483647,
    "INT64_MIN": -(1 << 63), "1.5": 1.5, "1.5f": 1.5, "0.1f": 0.10000000149011612, ".5": 0.5, "1.": 1.0,
    "1e-3": 0.001, "-1.5": -1.5, "(1.5)": 1.5, "(-2.5e3)": -2500.0, "0x1p3": 8.0, "0x1.8p1f": 3.0, "1.0L": 1.0,
    "1e999": float("inf"), '"text"': "text", '"a" "b"': "ab", '("in brackets")': "in brackets", 'L"wide"': "wide",
    'u8"utf"': "utf", '"\\x41\\101\\n\\?\\\\\\""': 'AA\n?\\"', '"e\\xcc\\x81"': "e\u0301",
    '"\u00e9\\u00e9"': "\u00e9\u00e9", '"\\x41" "4"': "A4", '""': "", "TEXT(a  b)": "a b",
}  # fmt: skip

_BEFORE = """
#include <stdint.h>
#define MY_INT int
#define VERSION(a, b) ((a) << 8 | (b))
#define TEXT(x) #x
enum E { ENUMERATOR = 9 };
"""
_AFTER = "#define A 1\n#define LATER 5\n"


def _text(bodies: dict[str, int | float | str]) -> str:
    return _BEFORE + "".join(f"#define M{i} {body}\n" for i, body in enumerate(bodies)) + _AFTER


def test_constants_have_the_values_of_c(tmp_path: Path) -> None:
    header = parsed(_text(CONSTANTS))
    found = {body: header.constants.get(f"M{i}") for i, body in enumerate(CONSTANTS)}
    assert found == CONSTANTS
    assert {body: type(value) for body, value in found.items()} == {b: type(v) for b, v in CONSTANTS.items()}
    plain = {body: value for body, value in CONSTANTS.items() if "'000" not in body and "0b" not in body}
    assert agrees_with_c(_text(plain) + "#include <stdbool.h>\n", tmp_path)["constants"] == len(plain) + 3


SKIPPED = {
    "": "it is empty",
    "int": "it is not an expression",
    "struct S": "it is not an expression",
    "const char*": "it is not an expression",
    "do { } while (0)": "it is not an expression",
    "1; int y": "it is not an expression",
    "1, y = 2": "it is not an expression",
    "{ 1, 2 }": "InitList",
    "sizeof(int)": "sizeof: its value differs between platforms",
    "_Alignof(int)": "_Alignof",
    "((size_t)-1)": "its value differs between platforms",
    "((void*)0)": "cast",
    "NULL": "NULL: this name is not a constant",
    "SIZE_MAX": "SIZE_MAX: this name is not a constant",
    "LONG_MAX": "LONG_MAX: this name is not a constant",
    "__FILE__": "__FILE__: this name is not a constant",
    "__LINE__": "__LINE__: this name is not a constant",
    "function(1)": "function(...)",
    "ITSELF": "ITSELF: this name is not a constant",
    "018": "it is not an expression",
    "1z": "it is not an expression",
    "'ab'": "up to the compiler",
    "99999999999999999999": "does not fit the 64 bits",
    "0.1L": "platforms give it different precision",
    '"\\e"': "C has no such escape",
    '"\\xff"': "its bytes are no UTF-8",
    '"\\400"': "it is no byte",
    'L"\\xd800"': "it is no character",
    '"open': "it is not an expression",
    "PAIR(1)": "it does not expand",
    "__attribute__((packed))": "not a constant",
    "1 / 0": "division by zero",
    "x ## y": "xy: this name is not a constant",
}


@pytest.mark.parametrize("body", SKIPPED)
def test_the_others_are_skipped_with_a_reason(body: str) -> None:
    header = parsed(f"#define PAIR(a, b) a\n#define ITSELF ITSELF\n#define M {body}\n")
    assert header.constants == {}
    assert SKIPPED[body] in header.skipped["M"]
    assert "header.h" not in header.skipped["M"] or "it does not expand" in header.skipped["M"]


def test_a_macro_that_is_nested_too_deeply_is_skipped() -> None:
    assert parsed(f"#define X {'(' * 5000}1{')' * 5000}\n").skipped == {"X": "it is nested too deeply"}


def test_macros_with_arguments_and_reserved_names_are_skipped() -> None:
    header = parsed("#define F(x) 1\n#define G() 1\n#define _H 1\n#define __I__ 2\n#define _J_\n")
    reserved = "C reserves names that begin with an underscore"
    assert header.skipped == {
        "F": "it takes arguments", "G": "it takes arguments", "_H": reserved, "__I__": reserved, "_J_": "it is empty",
    }  # fmt: skip


def test_every_macro_is_a_constant_or_skipped_in_the_order_of_the_header() -> None:
    text = "".join(f"#define M{i} {body}\n" for i, body in enumerate([*CONSTANTS, *SKIPPED]) if body != '"open')
    header = parsed(text)
    names = [f"M{i}" for i, body in enumerate([*CONSTANTS, *SKIPPED]) if body != '"open']
    assert set(header.constants) | set(header.skipped) == set(names)
    assert list(header.constants) == [name for name in names if name in header.constants]
    assert list(header.skipped) == [name for name in names if name in header.skipped]
