"""`python -m gen diff`: additions at the end are fine, every other change is a break with a name."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen.changes import Change
from gen.diff import compare
from gen.model import CType, Function, Header, Member, Record
from tests.support.small_headers import MAIN, read

BASE = (
    MAIN
    + r"""
#define ORT_LIMIT 8
typedef OrtStatus* OrtStatusPtr;
typedef enum OrtLate { OrtLate_A, OrtLate_B } OrtLate;
OrtStatus* ORT_API_CALL OrtOpen(int flags);
typedef union OrtEither { int32_t small; uint64_t room[2]; } OrtEither;
struct OrtPair { uint32_t version; OrtPoint point; };
struct OrtHolder { uint32_t version; OrtEither either; };
struct OrtTail { uint64_t a; uint32_t b; };
struct OrtKeeper { struct OrtTail tail; };
struct OrtOptions { int device; };
"""
)


def changes(old: str, new: str, text: str = BASE) -> list[Change]:
    assert old in text
    return compare(read(text), read(text.replace(old, new, 1)))


def show(found: list[Change]) -> list[tuple[str, str, bool]]:
    return [(change.kind, change.place, change.breaking) for change in found]


def test_nothing_changed_is_no_change() -> None:
    assert compare(read(BASE), read(BASE)) == []


TWO = "  /** \\since Version 1.2. */\n  void(ORT_API_CALL* ReleaseEnv)(OrtEnv* env);\n"
FINE = [
    (TWO, TWO + "  int(ORT_API_CALL* Last)(int x);\n", [("added", "OrtApi[2].Last")]),
    ("int32_t y;", "int32_t y; };\nstruct OrtNew { int x;", [("added", "OrtNew")]),
    ("ORT_GREEN = 4", "ORT_GREEN = 4, ORT_BLUE", [("added", "OrtColour.ORT_BLUE")]),
    ("ORT_RED,", "ORT_RED, ORT_BLUE = 3,", [("added", "OrtColour.ORT_BLUE")]),
    ("VERSION 30", "VERSION 31", [("changed", "ORT_API_VERSION")]),
    ("OrtEnv* env)", "OrtEnv* renamed)", [("changed", "OrtApi[1].ReleaseEnv")]),
    ("const char* text)", "const char* words)", [("changed", "OrtLogFn")]),
    ("Version 1.2.", "Version 1.3.", [("changed", "OrtApi[1].ReleaseEnv")]),
    ("#define ORT_LIMIT 8", "#define ORT_LIMIT 8\n#define ORT_MORE 9", [("added", "ORT_MORE")]),
    ("static const", 'static const char* const kOrtMore = "x";\nstatic const', [("added", "kOrtMore")]),
    ("typedef struct OrtEnv OrtEnv;", "typedef struct OrtEnv { int x; } OrtEnv;", [("changed", "OrtEnv")]),
    ("typedef OrtStatus*", "typedef OrtEnv* OrtEnvPtr;\ntypedef OrtStatus*", [("added", "OrtEnvPtr")]),
    ("int32_t small;", "int32_t small; double real;", [("added", "OrtEither[1].real")]),
    ("int32_t small; uint64_t room[2];", "uint64_t room[2]; int32_t small;", []),
    ("int device;", "int device; int more;", [("added", "OrtOptions[1].more"), ("changed", "OrtOptions")]),
    ("uint32_t version; OrtPoint", "uint32_t version; OrtPoint", []),
    ("OrtPoint point;", "OrtPoint point; int more;", [("added", "OrtPair[2].more")]),
    ("uint32_t b; }", "uint32_t b; uint32_t padding; }", [("added", "OrtTail[2].padding")]),
    ("OrtLate_B }", "OrtLate_B = 1 << 0 }", [("changed", "OrtLate")]),
]


@pytest.mark.parametrize(("old", "new", "expected"), FINE)
def test_additions_and_renamed_parameters_are_no_break(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    assert show(changes(old, new)) == [(*place, False) for place in expected]


OPTIONS, TAIL = "struct OrtOptions { int device; };", "struct OrtTail { uint64_t a; uint32_t b; };"
BREAKS = [
    (TWO, "", [("removed", "OrtApi[1].ReleaseEnv")]),
    ("ReleaseEnv)", "FreeEnv)", [("renamed", "OrtApi[1].ReleaseEnv")]),
    ("void(ORT_API_CALL* ReleaseEnv)", "int(ORT_API_CALL* ReleaseEnv)", [("changed", "OrtApi[1].ReleaseEnv")]),
    ("ReleaseEnv)(OrtEnv* env)", "ReleaseEnv)(OrtEnv* env, int x)", [("changed", "OrtApi[1].ReleaseEnv")]),
    ("ReleaseEnv)(OrtEnv*", "ReleaseEnv)(const OrtEnv*", [("changed", "OrtApi[1].ReleaseEnv")]),
    ("void(ORT_API_CALL* ReleaseEnv)(OrtEnv* env)", "void* ReleaseEnv", [("changed", "OrtApi[1].ReleaseEnv")]),
    ("(ORT_API_CALL* OrtLogFn)", "(*OrtLogFn)", [("changed", "OrtLogFn")]),
    ("const char* text)", "const char* text, int level)", [("changed", "OrtLogFn")]),
    ("int32_t x; int32_t y;", "int32_t x; int64_t y;", [("changed", "OrtPoint[1].y"), ("changed", "OrtPoint")]),
    ("int32_t x; int32_t y;", "int32_t y; int32_t x;", [("moved", "OrtPoint[1].x"), ("moved", "OrtPoint[0].y")]),
    ("ORT_GREEN = 4", "ORT_GREEN = 5", [("changed", "OrtColour.ORT_GREEN")]),
    ("ORT_RED, ORT_GREEN = 4", "ORT_GREEN = 4", [("removed", "OrtColour.ORT_RED")]),
    ("OrtLate_A,", "OrtLate_N, OrtLate_A,", [("changed", "OrtLate.OrtLate_A"), ("changed", "OrtLate.OrtLate_B")]),
    ("ORT_LIMIT 8", "ORT_LIMIT 9", [("changed", "ORT_LIMIT")]),
    ("ORT_LIMIT 8", "ORT_LIMIT 8.0", [("changed", "ORT_LIMIT")]),
    ("ORT_LIMIT 8", "ORT_LIMIT sizeof(int)", [("removed", "ORT_LIMIT")]),
    ('"session.key"', '"session.keys"', [("changed", "kOrtKey")]),
    ('static const char* const kOrtKey = "session.key";', "", [("removed", "kOrtKey")]),
    ("typedef OrtStatus* OrtStatusPtr;", "", [("removed", "OrtStatusPtr")]),
    ("typedef OrtStatus* OrtStatusPtr;", "typedef const OrtStatus* OrtStatusPtr;", [("changed", "OrtStatusPtr")]),
    ("OrtOpen(int flags)", "OrtOpen(int flags, int more)", [("changed", "OrtOpen")]),
    ("OrtStatus* ORT_API_CALL OrtOpen(int flags);", "", [("removed", "OrtOpen")]),
    ("typedef union OrtEither", "typedef struct OrtEither", [("changed", "OrtEither"), ("changed", "OrtEither")]),
    (OPTIONS, "typedef enum OrtOptions { OrtOptions_A } OrtOptions;", [("changed", "OrtOptions")]),
    (OPTIONS, "typedef struct OrtOptions OrtOptions;", [("changed", "OrtOptions")]),
    ("int device;", "int device[2];", [("changed", "OrtOptions[0].device")]),
    (TAIL, f"#pragma pack(1)\n{TAIL}\n#pragma pack()", [("changed", "OrtTail"), ("changed", "OrtTail")]),
    ("int32_t x; int32_t y;", "int32_t x; int32_t y; int32_t z;", [("changed", "OrtPoint")]),
    ("uint64_t room[2]; }", "uint64_t room[2]; uint64_t more[3]; }", [("changed", "OrtEither")]),
    ("int32_t small; ", "", [("removed", "OrtEither[0].small")]),
    ("int device;", "int device : 8;", [("changed", "OrtOptions[0].device")]),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "expected"), BREAKS)
def test_everything_else_is_a_break_with_a_name(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    found = changes(old, new)
    assert [(change.kind, change.place) for change in found if change.breaking] == expected


def test_an_inserted_slot_is_named_and_those_behind_it_are_counted() -> None:
    found = changes("struct OrtApi {\n", "struct OrtApi {\n  int(ORT_API_CALL* First)(int x);\n")
    assert show(found) == [("moved", "OrtApi[1].CreateEnv", True), ("added", "OrtApi[0].First", True)]
    assert "this and 1 more, to ReleaseEnv, stand elsewhere: index 0 -> 1" in found[0].detail
    assert "inserted before what was there" in found[1].detail


def test_a_removed_slot_moves_those_behind_it() -> None:
    found = changes(
        "  /** \\since Version 1.1. */\n  OrtStatus*(ORT_API_CALL* CreateEnv)(OrtLogFn log, OrtEnv** out);\n", ""
    )
    assert show(found) == [("removed", "OrtApi[0].CreateEnv", True), ("moved", "OrtApi[0].ReleaseEnv", True)]


def test_a_struct_that_grows_breaks_what_embeds_it_by_value() -> None:
    found = changes("int32_t x; int32_t y;", "int32_t x; int32_t y; int32_t z;")
    assert "embedded by value in OrtPair" in found[-1].detail and "8 -> 12 bytes" in found[-1].detail


def test_a_struct_that_is_passed_by_value_breaks_that_function() -> None:
    text = BASE.replace("OrtOpen(int flags)", "OrtOpen(struct OrtOptions flags)")
    [added, grown] = changes("int device;", "int device; int more;", text)
    assert (added.breaking, grown.breaking) == (False, True)
    assert "embedded by value in OrtOpen" in grown.detail


def test_growth_through_two_levels_names_both() -> None:
    text = BASE + "struct OrtOuter { int x; struct OrtKeeper keeper; };\n"
    found = changes("uint32_t b; }", "uint32_t b; uint64_t more; }", text)
    assert found[-1].detail.endswith("embedded by value in OrtKeeper, OrtOuter")


def test_a_constant_that_becomes_a_key_of_the_same_value_is_no_break() -> None:
    text = BASE + '#define kOrtOther "other"\n'
    old = '#define kOrtOther "other"\n'
    assert show(changes(old, 'static const char* const kOrtOther = "other";\n', text)) == [
        ("changed", "kOrtOther", False)
    ]
    assert show(changes(old, 'static const char* const kOrtOther = "another";\n', text)) == [
        ("changed", "kOrtOther", True)
    ]


@pytest.mark.parametrize(
    ("old", "new", "detail"),
    [
        ("ReleaseEnv)(OrtEnv*", "ReleaseEnv)(const OrtEnv*", "const alone"),
        ("(ORT_API_CALL* OrtLogFn)", "(*OrtLogFn)", "another calling convention: it differs on 32-bit Windows"),
        ("OrtEnv* env)", "OrtEnv* other)", "parameters renamed: env -> other"),
        ("Version 1.2.", "Version 1.3.", "since 1.2 -> 1.3"),
        ("int device;", "int device; int more;", "a caller that was built before has a smaller one"),
        ("ORT_LIMIT 8", "ORT_LIMIT sizeof(int)", "is no constant now"),
    ],
)
def test_the_detail_says_what_it_means(old: str, new: str, detail: str) -> None:
    assert any(detail in change.detail for change in changes(old, new))


slots = st.lists(st.sampled_from("ABCDEFGH"), min_size=1, unique=True)


@settings(deadline=None)
@given(slots, slots)
def test_a_table_is_append_only_exactly_when_the_old_one_is_its_beginning(old: list[str], new: list[str]) -> None:
    def header(names: list[str]) -> Header:
        members = [Member(name, Function(CType("void"), (), "stdcall"), 1) for name in names]
        return Header(records={"OrtApi": Record("OrtApi", members)}, constants={"ORT_API_VERSION": 1}, release="1.1")

    found = compare(header(old), header(new))
    assert any(change.breaking for change in found) == (new[: len(old)] != old)
    assert (found == []) == (old == new)
    named = {c.member for c in found if c.kind == "removed" or c.kind == "renamed"}
    assert named == set(old) - set(new)
