"""Kinds of declarations in C headers: each is bound, and a C compiler agrees with sizes, offsets and values."""

from __future__ import annotations

import ctypes
from pathlib import Path

import pytest

from tests.support.c_headers import agrees_with_c, bound, refused

RIGHT = {
    "anonymous union and struct": "struct A { int tag; union { int i; double d; }; struct { char x, y; }; char end; };",
    "anonymous within anonymous": """
        struct A { char c; union { long long l; struct { int a; union { char b; short s; }; }; }; char z; };
    """,
    "unnamed within anonymous": "struct A { int t; struct { char c; struct { char d; int x; } inner[2]; }; };",
    "nested with a tag": "struct A { char c; struct B { char x; int y; } b; struct B more[2]; };",
    "nested without a tag": "struct A { char c; struct { char x; int y; } b[2][3]; union { int i; char c; } u; };",
    "behind a pointer without a tag": "struct A { char c; struct { char x; int y; } *b; };",
    "two members of one unnamed type": "struct A { struct { char x; int y; } b, c, *d; };",
    "enum inside a struct": "struct A { enum { P = 3, Q } kind; enum K { R = 9 } other; char c; };",
    "enum declared inside without a member": "struct A { enum K { R = 9 }; enum { S = 4 }; char c; };",
    "bit-fields of one type": "struct A { unsigned a : 3; unsigned b : 5; unsigned c : 30; int d; };",
    "signed bit-fields": "struct A { int a : 3; int b : 7; int end; };",
    "bit-fields of 8, 16 and 64 bits": """
        #include <stdint.h>
        struct A { uint8_t a : 3; uint8_t b : 7; };
        struct B { int16_t a : 9; uint16_t b : 9; int16_t c; };
        struct C { uint64_t a : 40; uint64_t b : 30; int64_t c : 60; };
    """,
    "bit-fields between wider members": "struct A { double d; int a : 1; unsigned b : 31; int *p; };",
    "packed before": "struct __attribute__((packed)) A { char c; int i; double d; };",
    "packed after": "typedef struct { char c; int i; } __attribute__((__packed__)) A;",
    "packed by pragma": """
        #pragma pack(push, 1)
        struct A { char c; int i; struct { char d; short s; } in; };
        #pragma pack(pop)
        struct B { char c; int i; struct A a; };
    """,
    "pragma pack of two and four": """
        #pragma pack(2)
        struct A { char c; long long i; };
        #pragma pack(4)
        struct B { char c; long long i; short s; };
        #pragma pack()
        struct C { char c; long long i; };
    """,
    "packed inside a struct that is not": """
        struct A { char c; struct B { char x; int y; } __attribute__((packed)) b; int z; };
    """,
    "_Bool and bool": "#include <stdbool.h>\nstruct A { _Bool a; bool b; int c; };",
    "bool of the header's own": "typedef unsigned char boolean; struct A { boolean b; int c; };",
    "integers in every spelling": """
        struct A {
          long unsigned int a; int long b; short int unsigned c; long long int signed d; unsigned e; signed f;
          int short g; unsigned char h; char signed i; long double j; double long k; long long unsigned l;
          signed long m; float n; double o; unsigned short p;
        };
    """,
    "the names of stdint.h and stddef.h": """
        #include <stddef.h>
        #include <stdint.h>
        struct A {
          int8_t a; uint16_t b; int32_t c; uint64_t d; size_t e; ptrdiff_t f; uintptr_t g; intmax_t h; wchar_t i;
          int_least16_t j;
        };
    """,
    "pointers to void and chains of typedefs": """
        typedef void* H; typedef H H2; typedef const H2 CH;
        struct A { H a; const H b; CH c; H2* d; const H2* const* e; const void* f; };
    """,
    "const on a typedef of a pointer": """
        typedef const char* STR; typedef char* MSTR;
        struct A { const STR a; STR* b; const MSTR c[2]; STR const d; const MSTR* e; };
    """,
    "arrays of typedefs of arrays": "typedef int V[3]; struct A { V a; V b[2]; const V c; int d[2][3][4]; };",
    "arrays of pointers and of functions": "struct A { int* p[3]; int (*f[2])(int); char** q[2]; };",
    "functions that give functions": "struct A { int (*(*f)(int))(float); void (*g)(int (*)(char), char*); };",
    "pointers to function pointers": "typedef void (*F)(int); struct A { F* p; F q[2]; void (**r)(int); };",
    "a typedef of a function": "typedef int F(int, char*); typedef F G; struct A { F* f; G* g; F** h; };",
    "stdcall in a struct": "struct A { int (__stdcall* f)(int); int (__cdecl* g)(int); void (__stdcall** h)(void); };",
    "structs by value": """
        struct P { double x, y; }; typedef struct P (*F)(struct P, const struct P*);
        struct A { F f; struct P (*g)(struct P p); };
    """,
    "one name for tag and typedef": "typedef struct A A; struct A { A* next; struct A** all[2]; };",
    "a tag before its definition": "struct B; struct A { struct B* b; }; struct B { struct A a; char c; };",
    "several declarators of one typedef": "typedef struct { int x; char c; } A, *PA; struct B { PA p; A a[2]; };",
    "a tag with an underscore": """
        typedef struct _A { struct _A* next; int x; } A; typedef struct _B B; struct _B { A a; };
    """,
    "a pointer to a struct without a tag": "typedef struct { int x; char c; } *PA; struct B { PA p; };",
    "a union of everything": """
        union U { char c[5]; short s; struct { int a; char b; } t; void* p; }; struct A { union U u; };
    """,
    "duplicate typedefs": """
        typedef int T; typedef int T; typedef struct A A; typedef struct A A; struct A { T t; };
    """,
    "comments everywhere": """
        struct /* a */ A // b
        { /* c */ int /**/ x /* , int y */ ; // int z;
          int/**/y; /* "*/ char /* ' */ c; // it's
        };
    """,
    "continued lines": "str\\\nuct A { int lo\\\nng_name; char c; };\n#define N 1 + \\\n  2\nenum { E = N };\n",
    "harmless attributes": """
        struct __attribute__((deprecated("old, (really)"))) A { int x __attribute__((unused)); char c; };
        __attribute__((visibility("default"), nonnull(1))) int f(int* p) __attribute__((warn_unused_result));
        typedef int T __attribute__((may_alias));
        struct B { __extension__ union { int i; char c; }; int* restrict p; T t; };
    """,
    "python's keywords as members": "struct A { int from, in, class; char None, __place_holder; int lambda; };",
    "macros that make types and members": """
        #define MY_INT int
        #define FIELD(kind, name) kind name
        #define CAT(a, b) a##b
        struct A { MY_INT x; FIELD(char, y); FIELD(unsigned MY_INT, CAT(z, 1)); };
    """,
    "assertions": '_Static_assert(sizeof(int) == 4, "x"); struct A { int x; _Static_assert(1, "y"); char c; };',
    "helpers with bodies": """
        static inline int f(int x) { struct q { char c; }; return (int)sizeof(x); }
        struct A { int x; };
    """,
    "the tables' own style": """
        struct OrtAnyApi; typedef struct OrtAnyApi OrtAnyApi; typedef struct OrtThing OrtThing;
        struct OrtAnyApi {
          const char*(ORT_API_CALL* Version)(void);
          int(ORT_API_CALL* Open)(const ORTCHAR_T* path, const char* const* names, OrtThing** out);
          void(ORT_API_CALL* Release)(OrtThing* input);
        };
    """,
}  # fmt: skip


@pytest.mark.parametrize("kind", RIGHT)
def test_the_compiler_agrees_with(kind: str, tmp_path: Path) -> None:
    counts = agrees_with_c(RIGHT[kind], tmp_path)
    assert counts["structs"] >= 2 and counts["types"] >= 2  # the one that is always there, and what the case is of


def test_values_go_through_anonymous_members() -> None:
    _, loaded = bound(RIGHT["anonymous within anonymous"])
    cls = loaded.bindings.get("A")
    value = cls(c=b"c", a=7, s=0x1234, z=b"z")
    assert (value.a, value.s, value.b) == (7, 0x1234, b"\x34")
    assert bytes(value)[12:14] == b"\x34\x12"


def test_bit_fields_hold_their_values_beside_one_another() -> None:
    _, loaded = bound("struct A { unsigned a : 3; unsigned b : 5; int c : 6; unsigned d : 18; };")
    value = loaded.bindings.get("A")(a=5, b=19, c=-7, d=200000)
    assert (value.a, value.b, value.c, value.d) == (5, 19, -7, 200000)
    word = 5 | 19 << 3 | (-7 & 63) << 8 | 200000 << 14
    assert bytes(value) == word.to_bytes(4, "little")


def test_a_member_that_is_a_keyword_is_reached_with_getattr() -> None:
    _, loaded = bound("struct A { int from; int __secret; };")
    value = loaded.bindings.get("A")()
    setattr(value, "from", 3)
    setattr(value, "__secret", 4)  # by a string, so that no class mangles it
    assert bytes(value) == bytes([3, 0, 0, 0, 4, 0, 0, 0])


def test_structs_go_by_value_through_a_function_pointer() -> None:
    _, loaded = bound("struct P { double x; int y; }; typedef double (*F)(struct P p, int n);")
    P, F = loaded.bindings.get("P"), loaded.bindings.get("F")
    assert F(lambda p, n: p.x + p.y + n)(P(1.5, 2), 3) == 6.5


def test_an_enum_of_unsigned_values_has_an_unsigned_type() -> None:
    header, loaded = bound("enum E { A = 0x80000000 }; struct S { enum E e; };")
    assert header.enums["E"].values == {"A": 0x80000000}
    assert loaded.bindings.get("S")(0x80000000).e == 0x80000000


def test_stdcall_is_kept_apart_from_cdecl() -> None:
    header, loaded = bound("typedef int (__stdcall *S)(int); typedef int (*C)(int); struct A { S s; C c; };")
    assert [header.callbacks[name].type.convention for name in "SC"] == ["stdcall", "cdecl"]
    assert ctypes.sizeof(loaded.bindings.get("A")) == 2 * ctypes.sizeof(ctypes.c_void_p)


def test_an_empty_header_declares_nothing() -> None:
    header, _ = bound("")
    assert list(header.records) == ["OrtTail"] and not header.enums and not header.handles


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("struct A { struct B { int x; }; };", "compilers differ on whether it is a member"),
        ("struct A { int x; int; };", "member of A without a name"),
        ("struct A {};", "empty record"),
        ("struct A { int n; int x[]; };", "no size"),
        ("struct A { int n; int x[0]; };", "no size"),
        ("struct A { int (*p)[3]; };", "pointer to int[3]"),
        ("typedef int V[3]; struct A { V* p; };", "pointer to int[3]"),
        ("struct A { struct A a; };", "no size"),
        ("struct A { struct B b; }; struct B { int x; };", "no size"),
        ("struct A { void v; };", "no size"),
        ("struct A { int a; union { int a; }; };", "two members are called a"),
        ("struct A { int _fields_; };", "needs that name itself"),
        ("struct A { int __class__; };", "needs that name itself"),
        ("struct A { __int128 x; };", "__int128"),
        ("struct A { unsigned __int128 x; };", "unsigned __int128"),
        ("struct A { float _Complex x; };", "_Complex"),
        ("struct A { _Float16 x; };", "_Float16"),
        ("struct A { _Atomic int x; };", "_Atomic"),
        ("struct A { _Atomic(int) x; };", "_Atomic"),
        ("struct A { short long x; };", "short long"),
        ("struct { int x; };", "nothing can refer to it"),
        ("union U { int x; float f; }; void f(union U u);", "unions"),
        ("struct B { int x : 3; }; void f(struct B b);", "bit-fields"),
        ("struct A { struct { union { int x; }; } y; }; struct A f(void);", "unions"),
        ("struct O; void f(struct O o);", "no size"),
        ("void f(struct New { int x; } n);", "cannot be defined here"),
        ("struct A { enum Late e; };", "enumerators are not declared"),
        ("enum E { A = 1, A = 2 };", "declared twice"),
        ("struct A { int x; }; struct A { int x; };", "defined twice"),
        ("struct S { int x; }; typedef int S;", "name of another struct as well"),
        ("enum E { S }; struct S { int x; };", "name of another enumerator as well"),
    ],
)
def test_refused_by_name(text: str, words: str) -> None:
    refused(text, words, line=1)
