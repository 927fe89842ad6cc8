"""Declarations to the model: typedefs, functions, parameters, constants."""

from __future__ import annotations

import pytest

from gen.model import Callback, CType, Function, Param
from tests.support.c_headers import parsed, refused


def functions(text: str) -> dict[str, str]:
    return {name: str(kind) for name, kind in parsed(text).functions.items()}


def test_functions_that_the_library_exports() -> None:
    assert functions("extern int f(int a, const char* b); void g(void); char* h(); static int no(int);") == {
        "f": "cdecl int(int a, const char* b)",
        "g": "cdecl void()",
        "h": "cdecl char*()",
    }
    assert functions("typedef int F(char c); F f, g;") == {"f": "cdecl int(char c)", "g": "cdecl int(char c)"}
    assert functions("int f(int a); int f(int b);") == {"f": "cdecl int(int a)"}


def test_parameters_decay_and_get_names() -> None:
    text = """
        typedef int V[3];
        void f(int a[], char* b[4], V c, const V d, int, int arg4, int g(char), int[2], int x[static 5]);
    """
    header = parsed(text)
    assert [str(p) for p in header.functions["f"].params] == [
        "int* a", "char** b", "int* c", "const int* d", "int arg4", "int arg4_", "f_g g", "int* arg7", "int* x",
    ]  # fmt: skip
    assert str(header.callbacks["f_g"].type) == "cdecl int(char arg0)"


def test_a_typedef_of_a_function_is_a_callback_where_it_is_pointed_to() -> None:
    header = parsed("typedef int F(char); typedef F G; typedef F* P; void f(F a, G* b, P c, F** d);")
    assert [str(p.type) for p in header.functions["f"].params] == ["F", "G", "F", "F*"]
    assert header.callbacks["F"] == Callback("F", Function(CType("int"), (Param("arg0", CType("char")),)))
    assert header.typedefs == {"P": CType("F")}


def test_names_without_a_tag() -> None:
    header = parsed(
        "typedef struct { int x; } A, *PA; typedef struct { PA p; } *PB; typedef enum { X } E, *PE; void f(PB, E);"
    )
    assert list(header.records) == ["A", "PB_target"] and list(header.enums) == ["E"]
    assert str(header.functions["f"]) == "cdecl void(PB_target* arg0, E arg1)"
    assert {name: str(kind) for name, kind in header.typedefs.items()} == {"PA": "A*", "PB": "PB_target*", "PE": "E*"}


def test_a_tag_with_an_underscore_gives_way_to_its_typedef_if_that_comes_first() -> None:
    header = parsed("typedef struct _A A; struct _A { struct _A* next; }; struct _B; typedef struct _B B; void f(B*);")
    assert list(header.records) == ["A"] and str(header.records["A"].members[0].type) == "A*"
    assert header.handles == ["_B"] and header.typedefs["B"] == CType("_B")
    header = parsed("typedef enum _E { X } E; void f(enum _E e, E g);")
    assert list(header.enums) == ["E"] and str(header.functions["f"]) == "cdecl void(E e, E g)"


def test_handles_are_what_never_gets_members() -> None:
    header = parsed("typedef struct A A; struct B; struct C { struct D* d; union U* u; }; struct B { int x; };")
    assert header.handles == ["A", "D", "U"]


def test_enums_without_a_name_are_constants() -> None:
    header = parsed("enum { A = 1, B }; struct S { enum { C = 5 }; int a[B]; };")
    assert header.constants == {"A": 1, "B": 2, "C": 5} and header.enums == {}
    assert str(header.records["S"].members[0].type) == "int[2]"


def test_enums_are_flags_where_an_enumerator_is_shifted() -> None:
    enums = parsed("enum A { P = 1 << 0, Q = (1 << 31) }; enum B { R = 1, S }; enum C { T = P | 1 };").enums
    assert [enum.flags for enum in enums.values()] == [True, False, False]
    assert enums["A"].values == {"P": 1, "Q": -(1 << 31)}


def test_static_constants() -> None:
    text = """
        static const char* const K = "a" "b\\n\\x41";
        static const char L[] = "abc"; static const char M[4] = "abc"; static const wchar_t* const W = L"w\\u00e9";
        static const int N = -7; static const unsigned char O = 300;
        static const double P = 1; static const float Q = 0.1f;
        static const bool R = 5; static const long long S = 1LL << 40; static const int T = 2.9;
    """
    header = parsed(text)
    assert header.keys == {"K": "ab\nA", "L": "abc", "M": "abc", "W": "w\u00e9"}
    assert header.constants == {
        "N": -7, "O": 44, "P": 1.0, "Q": 0.10000000149011612, "R": 1, "S": 1 << 40, "T": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("extern int x;", "variable x: only constants are bound"),
        ("extern const char* const names;", "variable names"),
        ("int x = 3;", "variable x"),
        ("static int x = 3;", "variable x"),
        ("static const int x;", "variable x"),
        ('static const char K[3] = "abc";', "variable K"),
        ("static const int* const p = 0;", "variable p"),
        ("static const char* const K = 0;", "variable K"),
        ("static const long x = 1LL << 40;", "differs between platforms"),
        ("static const int x = sizeof(int);", "sizeof"),
        ("struct S { int x; } s;", "variable s"),
        ("int (*f)(int);", "variable f"),
        ("int f(int, ...);", "... in f"),
        ("int f(a, b);", "before C89"),
        ("int f(int); int f(char);", "function f: it is declared twice"),
        ("typedef int T; typedef long T;", "typedef T: it is declared twice"),
        ("typedef int (*F)(int); typedef int (*F)(char);", "callback F: it is declared twice"),
        ("typedef int F(int); typedef int F(char);", "typedef F: it is declared twice"),
        ("typedef int V[]; ", "no size"),
        ("int f(int)[3];", "result of f"),
        ("void f(int m[2][3]);", "pointer to int[3]"),
        ("void f(void, int);", "void is no parameter"),
        ("struct A { int (*b_c)(int); }; struct A_b { int (*c)(float); };", "callback A_b_c: it is declared twice"),
        ("typedef int A_f; struct A { int (*f)(int); };", "function A_f: it is the name of another typedef"),
    ],
)
def test_declarations_that_are_refused_by_name(text: str, words: str) -> None:
    refused(text, words, line=1)
