"""Structs by the dozen that nobody thought of: each is refused, or a C compiler agrees with every offset and bit."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from gen.errors import UnsupportedConstruct
from tests.support.c_headers import agrees_with_c, parsed

SCALARS = [
    "char", "signed char", "unsigned char", "short", "unsigned", "int", "long", "unsigned long", "long long", "float",
    "double", "long double", "_Bool", "int8_t", "uint16_t", "int32_t", "uint64_t", "size_t", "enum Fixed", "void*",
    "const char*", "Pair", "Callback",
]  # fmt: skip
BIT_TYPES = ["int", "unsigned", "int8_t", "uint8_t", "short", "uint16_t", "long long", "uint64_t", "_Bool", "char"]

BEFORE = """
#include <stddef.h>
#include <stdint.h>
enum Fixed { FIXED_A = -1, FIXED_B = 7 };
typedef struct Pair { char first; int32_t second; } Pair;
typedef int (*Callback)(void* state, const struct Pair* pair);
"""

scalar = st.tuples(st.sampled_from(SCALARS), st.sampled_from(["", "", "", "[1]", "[3]", "[2][3]"]))
bits = st.tuples(st.sampled_from(BIT_TYPES), st.integers(1, 40))
run = st.tuples(st.sampled_from(BIT_TYPES[:8]), st.lists(st.integers(1, 8), min_size=1, max_size=6))
function = st.sampled_from(["void (*{})(void)", "int (*{}[2])(int, char*)", "Pair (*{})(Pair, int)"])
wide = st.tuples(st.sampled_from(["int", "unsigned", "float", "long", "double", "uint64_t", "void*"]), st.just(""))
name = st.sampled_from(["", "", "inner", "inner[2]", "*inner"])
member = st.deferred(lambda: st.one_of(scalar, scalar, scalar, function, record))
plain = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["struct", "struct", "struct", "union"]),
        "pack": st.sampled_from(["", "", "", " __attribute__((packed))"]),
        "name": name,
        "members": st.lists(member, min_size=1, max_size=5),
    }
)
fields = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(["struct", "struct", "struct", "struct", "union"]),
        "pack": st.just(""),
        "name": name,
        "members": st.lists(st.one_of(wide, wide, bits, run, run, scalar), min_size=1, max_size=4),
    }
)
record = st.one_of(plain, fields)
top = st.tuples(record, st.sampled_from([0] * 12 + [1, 2, 4, 8]))


class _Names:
    def __init__(self) -> None:
        self.count = 0

    def __call__(self, name: str = "m{}") -> str:
        self.count += 1
        return name.format(self.count) if "{}" in name else f"{name}{self.count}"


def members(made: object, names: _Names) -> str:
    match made:
        case {"name": name}:
            plain = str(name).strip("*[2]")
            return f"{body(made, names)} {str(name).replace(plain, names(plain)) if plain else ''};"
        case str():
            return f"{made.format(names())};"
        case (kind, int(size)):
            return f"{kind} {names()} : {size};"
        case (kind, list(sizes)):
            return " ".join(f"{kind} {names()} : {size};" for size in sizes)
        case (kind, dims):
            return f"{kind} {names()}{dims};"
    raise AssertionError(made)


def body(made: object, names: _Names, tag: str = "") -> str:
    assert isinstance(made, dict)
    inside = " ".join(members(part, names) for part in made["members"])
    return f"{made['kind']}{made['pack']} {tag}{{ {inside} }}"


def declaration(made: tuple[object, int], tag: str) -> str:
    text = f"{body(made[0], _Names(), f'{tag} ')};\n"
    return f"#pragma pack(push, {made[1]})\n{text}#pragma pack(pop)\n" if made[1] else text


@pytest.mark.timeout(600)
@settings(max_examples=4, derandomize=True, deadline=None, database=None, phases=[Phase.generate])
@given(st.lists(top, min_size=40, max_size=60))
def test_random_records_are_refused_or_right(made: list[tuple[object, int]]) -> None:
    accepted = []
    for index, one in enumerate(made):
        text = declaration(one, f"R{index}")
        try:
            parsed(BEFORE + text)
        except UnsupportedConstruct:
            continue
        accepted.append(text)
    assert len(accepted) >= 5
    with TemporaryDirectory() as folder:  # one compilation for all of them
        assert agrees_with_c(BEFORE + "".join(accepted), Path(folder))["structs"] >= len(accepted)


OPERATORS = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "==", "!=", "<", ">", "<=", ">=", "&&", "||"]
literal = st.tuples(st.integers(0, (1 << 64) - 1), st.sampled_from(["", "u", "LL", "ull"])).map(
    lambda t: f"{t[0]}{t[1]}"
)
small = st.integers(0, 40).map(str)
expression = st.recursive(
    st.one_of(literal, small, small),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(OPERATORS), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from(["-", "~", "!", "(unsigned char)", "(short)", "(unsigned)"]), inner).map("".join),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
    ),
    max_leaves=6,
)


@pytest.mark.timeout(600)
@settings(max_examples=4, derandomize=True, deadline=None, database=None, phases=[Phase.generate])
@given(st.lists(expression, min_size=100, max_size=150))
def test_random_expressions_are_refused_or_right(made: list[str]) -> None:
    rows = []
    for i, text in enumerate(made):
        row = f"enum E{i} {{ V{i} = (int)({text}) }};\n"
        try:
            parsed(row)
        except UnsupportedConstruct:
            continue
        rows.append(row)
    assert len(rows) >= len(made) // 2
    with TemporaryDirectory() as folder:
        assert agrees_with_c("".join(rows), Path(folder))["enums"] == len(rows)
