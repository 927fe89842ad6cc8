r"""Overlays: what is appended, what steps aside and says so, what contradicts the headers."""

from __future__ import annotations

import copy

import pytest

from gen.errors import GenError, OverlayError
from gen.model import Header
from gen.overlay import apply, generated_version, read_overlay_text
from tests.support.small_headers import MAIN, read

HEAD = "struct OrtApi {\n"


def lay(overlay: str, base: Header | None = None) -> tuple[Header, list[str]]:
    return apply(base or read(), read_overlay_text(overlay, "ours.h"))


def slots(header: Header, struct: str = "OrtApi") -> list[tuple[str, int | None, str]]:
    return [(m.name, m.since, m.status) for m in header.records[struct].members]


def api(*members: str) -> str:
    return HEAD + "".join(f"  {m}\n" for m in members) + "};\n"


KNOWN = r"/** \index 2 \since 1.31 */ void(ORT_API_CALL* Known)(OrtEnv* env);"
HELD = r"/** \index 3 \since 1.32 \placeholder not known */ void* placeholder_3;"
PROPOSED = r"/** \proposed */ void(ORT_API_CALL* Idea)(OrtEnv* env);"
UPSTREAM = ("ReleaseEnv)(OrtEnv* env);\n", "ReleaseEnv)(OrtEnv* env);\n  %s\n")


def upstream(*members: str, version: int = 33) -> Header:
    """Newer headers that hold these members behind the two of `MAIN`."""
    text = MAIN.replace(UPSTREAM[0], UPSTREAM[1] % "\n  ".join(members)).replace("VERSION 30", f"VERSION {version}")
    return read(text)


def test_entries_are_appended_with_what_their_comments_say() -> None:
    header, notes = lay(api(KNOWN, HELD, PROPOSED))
    assert slots(header)[2:] == [
        ("Known", 31, "released"),
        ("placeholder_3", 32, "placeholder"),
        ("Idea", None, "proposed"),
    ]
    assert notes == []
    assert generated_version(header) == 32


def test_the_headers_themselves_are_left_alone() -> None:
    base = read()
    before = copy.deepcopy(base)
    lay(api(KNOWN, HELD, PROPOSED), base)
    assert base == before


def test_entries_that_the_headers_hold_step_aside_and_upstreams_since_version_stands() -> None:
    base = upstream(
        r"/** \since 1.31 */ void(ORT_API_CALL* Known)(OrtEnv* e);",
        r"/** \since 1.32 */ int(ORT_API_CALL* RealName)(int x);",
        r"/** \since 1.33 */ void(ORT_API_CALL* Other)(void);",
        r"/** \since 1.33 */ void(ORT_API_CALL* Idea)(OrtEnv* env);",
    )
    header, notes = lay(api(KNOWN, HELD, PROPOSED), base)
    assert header.records == base.records
    assert slots(header)[5] == ("Idea", 33, "released")  # at an index of upstream's own choice
    assert notes == [
        "ours.h: OrtApi.Known steps aside: the imported headers hold it at index 2, since 1.31",
        "ours.h: OrtApi.placeholder_3 steps aside: the imported headers call it RealName",
        "ours.h: OrtApi.Idea steps aside: the imported headers hold it at index 5, since 1.33",
    ]
    assert generated_version(header) == 33


def test_what_is_left_of_an_overlay_goes_behind_what_upstream_added() -> None:
    base = upstream(r"/** \since 1.31 */ void(ORT_API_CALL* Known)(OrtEnv* e);", version=31)
    header, notes = lay(api(KNOWN, HELD, PROPOSED), base)
    assert [name for name, *_ in slots(header)] == ["CreateEnv", "ReleaseEnv", "Known", "placeholder_3", "Idea"]
    assert len(notes) == 1


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (
            r"/** \since 1.31 */ void(ORT_API_CALL* Known)(const OrtEnv* env);",
            r"is stdcall void\(OrtEnv\* env\) here and",
        ),
        (r"/** \since 1.31 */ int(ORT_API_CALL* Known)(OrtEnv* env);", "here and stdcall int"),
        (r"/** \since 1.31 */ void* Known;", r"here and void\* in the imported headers"),
        (
            r"/** \since 1.31 */ void(ORT_API_CALL* Other)(void);",
            "has index 2, but the imported headers hold Other there",
        ),
    ],
)
def test_another_signature_or_another_slot_at_the_index_is_an_error(member: str, message: str) -> None:
    with pytest.raises(OverlayError, match=message) as caught:
        lay(api(KNOWN), upstream(member))
    assert str(caught.value).startswith("ours.h:2: OrtApi.Known")


def test_the_same_name_at_another_index_is_an_error() -> None:
    first = r"/** \since 1.31 */ void(ORT_API_CALL* First)(void);"
    with pytest.raises(OverlayError, match="has index 2 here and 3 in the imported headers"):
        lay(api(KNOWN), upstream(first, r"/** \since 1.31 */ void(ORT_API_CALL* Known)(OrtEnv* e);"))


def test_a_proposed_entry_of_another_signature_is_an_error() -> None:
    with pytest.raises(OverlayError, match=r"Idea is stdcall void\(OrtEnv\* env\) here and stdcall int\(\) in"):
        lay(api(PROPOSED), upstream(r"/** \since 1.33 */ int(ORT_API_CALL* Idea)(void);"))


def test_an_index_past_the_end_means_that_headers_are_missing() -> None:
    with pytest.raises(OverlayError, match=r"has index 3, but the imported headers end at 2: import newer headers"):
        lay(api(KNOWN.replace("2", "3")))


@pytest.mark.parametrize(
    ("member", "message"),
    [
        (r"/** \index 2 */ void* a;", r"needs \\index and \\since"),
        (r"/** \placeholder */ void* placeholder_2;", r"needs \\index and \\since"),
        (r"/** \proposed \since 1.31 */ void* a;", r"can have no \\index, no \\since"),
        (r"/** \proposed \index 2 */ void* a;", r"can have no \\index, no \\since"),
        (r"/** \proposed \placeholder */ void* a;", r"can have no \\index, no \\since and no \\placeholder"),
        (r"/** \index 2 \since 1.31 \placeholder */ int placeholder_2;", "declare it `void\\* placeholder_2`"),
        (r"/** \index 2 \since 1.31 \placeholder */ void* placeholder_9;", "declare it `void\\* placeholder_2`"),
        (r"/** \index 2 \since 1.31 \placeholder */ void* unknown;", "declare it `void\\* placeholder_2`"),
        (r"/** \index 2 \since 1.31 */ void* placeholder_2;", r"is not marked \\placeholder"),
    ],
)
def test_an_entry_that_says_too_little_or_too_much_is_an_error(member: str, message: str) -> None:
    with pytest.raises(OverlayError, match=message) as caught:
        lay(api(member))
    assert str(caught.value).startswith("ours.h:2: OrtApi.")


DECLARATIONS = r"""
typedef struct OrtNew OrtNew;
typedef enum OrtMode { OrtMode_A, OrtMode_B = 1 << 4 } OrtMode;
/** \since 1.31 */
typedef void(ORT_API_CALL* OrtNewFn)(OrtNew* x, OrtMode mode);
typedef OrtNew* OrtNewPtr;
static const char* const kOrtNew = "new.key";
#define ORT_NEW 7
OrtStatus* OrtMakeNew(OrtNewFn function);
/** \since 1.31 */
struct OrtNewInfo {
  uint32_t version;
  /** \since 1.32 */
  OrtMode mode;
};
"""


def test_every_kind_of_declaration_is_laid_over() -> None:
    header, notes = lay(DECLARATIONS)
    assert notes == []
    assert "OrtNew" in header.handles
    assert header.enums["OrtMode"].flags
    assert header.callbacks["OrtNewFn"].since == 31
    assert str(header.typedefs["OrtNewPtr"]) == "OrtNew*"
    assert (header.constants["ORT_NEW"], header.keys["kOrtNew"]) == (7, "new.key")
    assert str(header.functions["OrtMakeNew"]) == "cdecl OrtStatus*(OrtNewFn function)"
    assert slots(header, "OrtNewInfo") == [("version", 31, "released"), ("mode", 32, "released")]
    assert "ours.h" in header.sources


def test_every_kind_of_declaration_steps_aside_once_the_headers_hold_it() -> None:
    base = read(MAIN + DECLARATIONS)
    header, notes = lay(DECLARATIONS, base)
    assert [note.removeprefix("ours.h: ").split(" steps aside")[0] for note in notes] == [
        "OrtNew", "OrtMode", "OrtNewFn", "OrtMakeNew", "OrtNewPtr", "ORT_NEW", "kOrtNew", "struct OrtNewInfo",
    ]  # fmt: skip
    header.sources = base.sources
    assert header == base


@pytest.mark.parametrize(
    ("ours", "theirs", "message"),
    [
        ("OrtMode_B = 1 << 4", "OrtMode_B = 1 << 5", "OrtMode is .*16.* here and .*32.* upstream"),
        ("OrtNewFn)(OrtNew* x, OrtMode mode)", "OrtNewFn)(OrtNew* x)", "OrtNewFn is .* here and .* upstream"),
        ("typedef OrtNew* OrtNewPtr", "typedef const OrtNew* OrtNewPtr", "OrtNewPtr is OrtNew.* here and const"),
        ('"new.key"', '"newer.key"', "kOrtNew is 'new.key' here and 'newer.key' upstream"),
        ("#define ORT_NEW 7", "#define ORT_NEW 8", "ORT_NEW is 7 here and 8 upstream"),
        ("OrtStatus* OrtMakeNew", "OrtStatus** OrtMakeNew", "OrtMakeNew is .* here and .* upstream"),
        ("uint32_t version;", "uint64_t version;", "struct OrtNewInfo has other members upstream"),
        ("uint32_t version;", "", "struct OrtNewInfo has other members upstream"),
    ],
)
def test_a_declaration_that_upstream_has_otherwise_is_an_error(ours: str, theirs: str, message: str) -> None:
    with pytest.raises(OverlayError, match=message):
        lay(DECLARATIONS, read(MAIN + DECLARATIONS.replace(ours, theirs)))


def test_upstream_may_have_more_enumerators_by_now() -> None:
    base = read(MAIN + DECLARATIONS.replace("1 << 4 }", "1 << 4, OrtMode_C = 1 << 5 }"))
    header, _ = lay(DECLARATIONS, base)
    assert list(header.enums["OrtMode"].values) == ["OrtMode_A", "OrtMode_B", "OrtMode_C"]


def test_a_handle_that_the_overlay_knows_the_members_of_becomes_a_struct() -> None:
    header, _ = lay("struct OrtEnv { int x; };")
    assert "OrtEnv" in header.records and "OrtEnv" not in header.handles


@pytest.mark.parametrize(
    "text",
    [
        "typedef enum OrtPoint { OrtPoint_A } OrtPoint;",
        "typedef void(ORT_API_CALL* OrtPoint)(int x);",
        "typedef struct OrtColour OrtColour;",
        "struct OrtColour { int x; };",
        "typedef int OrtEnv;",
    ],
)
def test_a_name_that_is_another_kind_of_thing_upstream_is_an_error(text: str) -> None:
    with pytest.raises(GenError, match=r"OrtPoint|OrtColour|OrtEnv"):
        lay(text)
