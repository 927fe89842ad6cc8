"""Tokens to a header set: what is no C, and what uses types that nobody declares, is refused by its place."""

from __future__ import annotations

import pytest

from gen.errors import GenError
from gen.model import CType, Header
from gen.parse import parse
from gen.preprocess import preprocess_text
from tests.support.c_headers import parsed, refused


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("struct A {\n  Unknown x;\n};", "Unknown x"),
        ("struct A {\n  int x\n};", "before: }"),
        ("int\nf(Missing* m);", "Missing"),
        ("enum E : unsigned char\n{ A };", "enum E"),
        ("enum E\n{ };", "}"),
        ("int x =\n;", ";"),
        ("template <class T>\nstruct A;", "template"),
    ],
)
def test_what_is_no_c_is_refused_with_the_line_that_it_stands_on(text: str, words: str) -> None:
    assert words in str(refused(text))


def test_a_header_that_ends_too_early_is_refused() -> None:
    with pytest.raises(GenError, match=r"header\.h:1"):
        parsed("struct A { int x;")


def test_what_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(GenError, match="nested too deeply"):
        parsed(f"enum E {{ A = {'(' * 5000}1{')' * 5000} }};")


@pytest.mark.parametrize("name", ["va_list", "FILE", "time_t", "int_fast16_t", "_Float16", "__int128"])
def test_a_type_without_a_form_in_ctypes_is_refused_by_name(name: str) -> None:
    refused(f"\nvoid f({name}* x);", f"{name}: this type is not one that ctypes has", line=2)


def test_a_base_lends_its_names() -> None:
    base = parsed(
        "typedef struct OrtEnv OrtEnv; typedef int (*Fn)(int); enum E { A = 4 }; typedef void* H; struct S { int x; };"
    )
    header = parse(preprocess_text("struct New { OrtEnv* e; Fn f; enum E k; H h; struct S s; int a[A]; };"), base)
    assert [str(m.type) for m in header.records["New"].members] == ["OrtEnv*", "Fn", "E", "void*", "S", "int[4]"]
    assert list(header.records) == ["New"] and header.handles == [] and header.callbacks == {}


def test_a_base_may_be_declared_again_and_extended() -> None:
    base = parsed("typedef struct OrtEnv OrtEnv; struct S { int x; }; enum E { A = 4 };")
    text = "typedef struct OrtEnv OrtEnv; struct S { OrtEnv* more; }; enum E { A = 4 };"
    header = parse(preprocess_text(text), base)
    assert [m.name for m in header.records["S"].members] == ["more"]
    assert header.enums["E"].values == {"A": 4}


def test_sources_and_order_are_those_of_the_header() -> None:
    header = parsed("struct B { int x; }; struct A { int y; }; enum F { P }; enum D { Q }; struct Z; struct Y;")
    assert (list(header.records), list(header.enums), header.handles) == (["B", "A"], ["F", "D"], ["Z", "Y"])
    assert list(header.sources) == ["header.h"]


def test_coordinates_are_those_of_the_declarations() -> None:
    header = parsed("\nstruct A {\n  int x;\n\n\n\n\n\n\n\n  int\n  y;\n};\ntypedef int (*F)(\n int);\n")
    assert [m.coord and m.coord.line for m in header.records["A"].members] == [3, 12]
    assert header.records["A"].coord == ("header.h", 2)
    assert header.callbacks["F"].coord == ("header.h", 14)


def test_a_headers_own_declaration_of_a_standard_type_counts() -> None:
    text = "typedef {} bool; typedef unsigned long size_t; typedef unsigned int uint32_t;"
    text += "struct A {{ bool b; size_t s; uint32_t u; }};"
    for own, expected in (("_Bool", "bool"), ("int", "int"), ("unsigned char", "unsigned char")):
        header = parsed(text.format(own))
        assert [str(m.type) for m in header.records["A"].members] == [expected, "unsigned long", "uint32_t"]
    assert "uint32_t" not in header.typedefs and header.typedefs["size_t"] == CType("unsigned long")


def test_nothing_is_shared_between_runs() -> None:
    assert parsed("typedef int bool; struct A { bool b; };").records["A"].members[0].type == CType("int")
    assert parsed("struct A { bool b; };").records["A"].members[0].type == CType("bool")
    assert parse(preprocess_text("")) == Header(sources=parsed("").sources)
