"""Compiler extensions: dropped where they say nothing to a binding, kept where they do, refused where none can tell."""

from __future__ import annotations

import pytest

from gen.model import Function
from gen.normalise import normalise
from gen.preprocess import preprocess_text
from tests.support.c_headers import parsed, refused


def plain(text: str) -> str:
    return " ".join(token.text for token in normalise(preprocess_text(text).tokens).tokens)


def packs(text: str) -> dict[str, int | None]:
    return {record.name: record.pack for record in parsed(text).records.values()}


@pytest.mark.parametrize(
    "text",
    [
        '__attribute__((deprecated("x"))) int f(int);',
        'int f(int) __attribute__((nonnull(1), deprecated("a, (b)")));',
        "__attribute((__noreturn__)) int f(int);",
        "__attribute__(()) int f(int);",
        "__declspec(dllimport) int f(int);",
        '__declspec(deprecated("old")) __declspec(noinline) int f(int);',
        "[[nodiscard]] int f(int);",
        '[[deprecated("]]"), gnu::cold]] int f(int);',
        "[[using gnu: cold, hot]] int f(int);",
        "__extension__ __inline int f(int);",
        "_Noreturn int f(int);",
        "int __cdecl f(int);",
        '#pragma once\n#pragma warning(disable : 4201)\n_Pragma("GCC diagnostic push")\nint f(int);',
        "__pragma(warning(push)) int f(int);",
        '_Static_assert(sizeof(int) == 4, "x"); int f(int); static_assert(1);',
    ],
)
def test_what_says_nothing_of_types_is_dropped(text: str) -> None:
    assert plain(text) == "int f ( int ) ;"


def test_volatile_and_restrict_are_dropped_and_other_spellings_renamed() -> None:
    assert plain("volatile int* __restrict p; __const char c; __signed__ char s; unsigned __int64 u;") == (
        "int * p ; const char c ; signed char s ; unsigned long long u ;"
    )


def test_attributes_inside_and_around_a_struct() -> None:
    text = """
        struct __attribute__((deprecated)) A { int x __attribute__((unused)); int y [[maybe_unused]]; };
        typedef struct [[deprecated]] B { int z; } B __attribute__((may_alias));
        enum __attribute__((flag_enum)) E { P __attribute__((deprecated)) = 1, Q [[deprecated]] };
        void g(int* p __attribute__((nonnull)), ...);
    """
    header = parsed(text.replace(", ...", ""))
    assert [m.name for m in header.records["A"].members] == ["x", "y"]
    assert header.enums["E"].values == {"P": 1, "Q": 2}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("struct __attribute__((aligned(8))) A { int x; };", "__attribute__(aligned)"),
        ("struct A { int x; } __attribute__((packed, aligned(4)));", "__attribute__(aligned)"),
        ("struct A { int x __attribute__((aligned(16))); };", "__attribute__(aligned)"),
        ("struct A { _Alignas(16) int x; };", "_Alignas"),
        ("#include <stdalign.h>\nstruct A { alignas(16) int x; };", "alignas"),
        ("struct __declspec(align(16)) A { int x; };", "__declspec(align)"),
        ("typedef int T __attribute__((mode(DI)));", "__attribute__(mode)"),
        ("typedef float V __attribute__((vector_size(16)));", "__attribute__(vector_size)"),
        ("struct A { int x __attribute__((packed)); };", "whole struct only"),
        ("typedef struct { char c; int x; } A __attribute__((packed));", "whole struct only"),
        ("struct __attribute__((packed)) A; struct B { char c; int x; };", "where the members follow"),
        ("enum __attribute__((packed)) E { A };", "whole struct only"),
        ("enum E { A } __attribute__((packed));", "whole struct only"),
        ("struct [[packed]] A { char c; int x; };", "[[packed]]"),
        ("struct [[unheard::of]] A { int x; };", "[[of]]"),
        ("int __fastcall f(int);", "__fastcall"),
        ("int f(int) __attribute__((fastcall));", "__attribute__(fastcall)"),
        ("int f(int) __asm__(\"g\");", "__asm__"),
        ("extern __thread int x;", "__thread"),
        ("#pragma pack(push, 1)\nstruct A { int x; };", "no pop follows"),
        ("#pragma pack(pop)", "nothing was pushed"),
        ("#pragma pack(push, name, 1)\n#pragma pack(pop)", "labels"),
        ("#pragma pack(3)", "no alignment"),
        ("struct A { char c;\n#pragma pack(1)\nint x; };", "inside braces"),
        ("#pragma ms_struct on\n", "#pragma ms_struct on"),
        ("#pragma clang attribute push(__attribute__((packed)), apply_to = record)\n", "may change a layout"),
        ("#pragma push_macro(\"X\")\n", "push_macro"),
        ("int a; # foo\n", "#foo"),
        ("extern \"C\" { int f(int); }", "C++"),
        ("int f(int) __attribute__((deprecated;", "never closed"),
    ],
)  # fmt: skip
def test_what_may_change_a_layout_or_a_call_is_refused_by_name(text: str, words: str) -> None:
    refused(text, words)


# Packing.


@pytest.mark.parametrize(
    "text",
    [
        "struct __attribute__((packed)) A { char c; int x; };",
        "struct A { char c; int x; } __attribute__((__packed__));",
        "typedef struct { char c; int x; } __attribute__((deprecated)) __attribute__((packed)) A;",
        "struct [[gnu::packed]] A { char c; int x; };",
        "struct [[using gnu: packed]] A { char c; int x; };",
        "#define PACKED __attribute__((packed))\nstruct PACKED A { char c; int x; };",
        "#pragma pack(push, 1)\nstruct A { char c; int x; };\n#pragma pack(pop)",
        "#pragma pack(1)\nstruct A { char c; int x; };\n#pragma pack()",
        "#pragma pack(push)\n#pragma pack(1)\nstruct A { char c; int x; };\n#pragma pack(pop)",
        "#pragma pack(push, \\\n 1)\nstruct A { char c; int x; };\n#pragma pack(pop)",
        '_Pragma("pack(push, 1)") struct A { char c; int x; }; _Pragma("pack(pop)")',
        "__pragma(pack(push, 1)) struct A { char c; int x; }; __pragma(pack(pop))",
    ],
)
def test_every_way_to_pack(text: str) -> None:
    assert packs(text + "\nstruct B { char c; int x; };") == {"A": 1, "B": None}


def test_packing_belongs_to_the_braces_it_stands_at() -> None:
    assert packs("struct A { struct B { char c; int x; } __attribute__((packed)) b; int y; };") == {"A": None, "B": 1}
    assert packs("struct __attribute__((packed)) A { struct B { char c; int x; } b; int y; };") == {"A": 1, "B": None}
    assert packs("#pragma pack(push, 2)\nstruct A { struct B { int x; } b; };\n#pragma pack(pop)") == {"A": 2, "B": 2}


# Calling conventions.


def conventions(text: str) -> dict[str, str]:
    header = parsed(text)
    found = {name: c.type.convention for name, c in header.callbacks.items()}
    found |= {name: f.convention for name, f in header.functions.items()}
    slots = ((m.name, m.type) for r in header.records.values() for m in r.members)
    return found | {name: kind.convention for name, kind in slots if isinstance(kind, Function)}


@pytest.mark.parametrize(
    "word", ["__stdcall", "_stdcall", "ORT_API_CALL", "__attribute__((stdcall))", "__attribute__((__stdcall__))"]
)
def test_stdcall_in_every_position(word: str) -> None:
    assert conventions(f"struct A {{ int ({word} *f)(int); int (*g)(int); }};") == {"f": "stdcall", "A_g": "cdecl"}
    assert conventions(f"struct A {{ int ({word} * const f)(int); int ({word} *g[2])(int); }};") == {
        "f": "stdcall",
        "A_g": "stdcall",
    }
    assert conventions(f"struct A {{ int ({word} **p)(int); }};") == {"A_p": "stdcall"}
    assert conventions(f"typedef int ({word} *F)(int); typedef int {word} G(int); void h(G* g);") == {
        "F": "stdcall",
        "G": "stdcall",
        "h": "cdecl",
    }
    assert conventions(f"int {word} f(int); void* {word} g(int); int ({word} h)(int);") == dict.fromkeys(
        "fgh", "stdcall"
    )
    assert conventions(f"void f(int ({word} *a)(int), int {word} b(int), int c(int), int ({word} *)(int));") == {
        "f_a": "stdcall",
        "f_b": "stdcall",
        "f_c": "cdecl",
        "f_arg3": "stdcall",
        "f": "cdecl",
    }
    assert conventions(f"int ({word} *f(int))(int);") == {"f_result": "stdcall", "f": "cdecl"}


@pytest.mark.parametrize(
    "text",
    [
        "int (* __stdcall f)(int);",
        "typedef int __stdcall (*F)(int);",
        "__stdcall int f(int);",
        "int __stdcall * f(int);",
        "int f(int) __attribute__((stdcall));",
        "struct A { int (*f)(int) __attribute__((stdcall)); };",
        "struct A { int (__stdcall *x); };",
        "int __stdcall x;",
    ],
)
def test_stdcall_where_it_may_mean_something_else_is_refused(text: str) -> None:
    refused(text, "stdcall", line=1)


def test_a_function_of_the_headers_own_may_have_any_body() -> None:
    text = """
        static inline int f(int x) { _Atomic int y; __asm__("nop"); { return sizeof(x); } }
        static int __stdcall g(int __stdcall cb(int)) { return 0; }
        int k(a, b) int a; int b; { return a; }
        int h(void);
    """
    assert list(parsed(text).functions) == ["h"]
