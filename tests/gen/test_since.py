r"""Since-versions: older snapshots, measured sizes and comments, and which of them wins."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen.comments import Comments, since_in
from gen.errors import Coord, GenError
from gen.model import Header
from gen.parse import parse
from gen.paths import TABLES
from gen.preprocess import preprocess_text
from gen.since import Tables, assign_since, load_tables
from tests.support.small_headers import read


def table(version: int, *slots: str) -> str:
    """A header with one table; a slot is ``name`` or ``name@since``."""
    lines = []
    for slot in slots:
        name, _, since = slot.partition("@")
        comment = rf"/** \since Version 1.{since}. */ " if since else ""
        lines.append(f"  {comment}void(ORT_API_CALL* {name})(int x);\n")
    return f"#define ORT_API_VERSION {version}\nstruct OrtApi {{\n{''.join(lines)}}};\n"


def since(header: Header, record: str = "OrtApi") -> list[int | None]:
    return [m.since for m in header.records[record].members]


def noted(text: str, tables: Tables | None = None, *older: Header) -> tuple[Header, list[str]]:
    source = preprocess_text(text)
    header = parse(source)
    return header, assign_since(header, source.texts, tables or {}, older)


@pytest.mark.parametrize(
    ("comment", "version"),
    [
        (r"/** Makes one. \since Version 1.22. */", 22),
        (r"// @since ORT 1.9", 9),
        (r"/* \since 1.18 */", 18),
        (r"/** \since ONNX Runtime v1.7 */", 7),
        (r"/** \Since version 1.20 and \since 1.21 */", 21),
        (r"/** since version 1.20 */", None),
        (r"/** \since Version 2.0 */", None),
    ],
)
def test_a_comment_says_since_when(comment: str, version: int | None) -> None:
    assert since_in(comment) == version


def test_a_comment_belongs_to_the_member_behind_it_or_before_it_on_its_line() -> None:
    text = (
        "#define ORT_API_VERSION 9\n"
        "struct OrtEp {\n"
        "  int a;  ///< counted\n"
        "          ///< \\since 1.2\n"
        "  // \\since 1.3\n"
        "  // and more\n"
        '  int b; int c;  /* "text" */\n'
        "  /** \\since 1.5 */ int d;\n"
        "};\n"
    )
    assert since(read(text), "OrtEp") == [2, 3, 3, 5]


def test_a_comment_marker_in_a_string_starts_no_comment() -> None:
    comments = Comments({"h.h": 'const char* s = "/* \\since 1.2";\nint x; // \\since 1.3\n'})
    assert since_in(comments.last_before(Coord("h.h", 2))) == 3


def test_a_struct_gets_its_own_comment_or_its_oldest_member() -> None:
    header = read(table(9, "A@4", "B@6") + "/** \\since 1.7 */\nstruct OrtB { int x; };\nstruct OrtC { int y; };\n")
    assert [header.records[name].since for name in ("OrtApi", "OrtB", "OrtC")] == [4, 7, None]
    assert since(header, "OrtB") == [7]


def test_a_slot_that_says_nothing_is_no_older_than_what_stands_before_it() -> None:
    assert since(read(table(9, "A", "B@3", "C", "D@2", "E"))) == [None, 3, 3, 2, 3]


def test_measured_sizes_win_over_comments_and_say_so() -> None:
    tables = {"OrtApi": {1: 1, 2: 1, 3: 3}}
    header, notes = noted(table(3, "A", "B@2", "C"), tables)
    assert since(header) == [1, 3, 3]
    assert notes == ["OrtApi.B says it is there since 1.2; the headers of 1.3 hold it first"]


def test_a_gap_in_what_was_measured_leaves_it_to_the_comment() -> None:
    header, notes = noted(table(28, "A", "B@27", "C@28"), {"OrtApi": {26: 1, 28: 3}})
    assert (since(header), notes) == ([26, 27, 28], [])


@pytest.mark.parametrize(
    ("sizes", "expected"), [({8: 1, 9: 2}, "2"), ({8: 1, 10: 2}, "1 to 2"), ({7: 2, 8: 4}, "at least 4")]
)
def test_sizes_that_do_not_fit_are_not_used(sizes: dict[int, int], expected: str) -> None:
    header, notes = noted(table(9, "A@7", "New@9", "B@8"), {"OrtApi": sizes})
    assert since(header) == [7, 9, 8]
    assert notes == [
        f"OrtApi has 3 members, but a release 1.9 has {expected}: the measured sizes say nothing of these headers"
    ]


def test_an_older_snapshot_gives_what_it_knows_and_bounds_the_rest() -> None:
    older = read(table(5, "A@2", "B@5"))
    header, notes = noted(table(8, "A", "B", "C", "D@7", "E@4"), {}, older)
    assert since(header) == [2, 5, 8, 7, 8]  # the latest it can be, where nothing is known
    assert notes == ["OrtApi.E is there since 1.4 by its place or comment, but the 1.5 headers lack it"]


def test_snapshots_that_are_not_older_are_passed_over() -> None:
    header, notes = noted(table(5, "A@2", "B@3"), {}, read(table(5, "A@5")), read(table(9)[:-4] + "int z; };\n"))
    assert (since(header), notes) == ([2, 3], [])


def test_a_slot_that_moved_counts_as_new_at_its_place() -> None:
    older = read(table(5, "A@2", "B@3", "C@4"))
    header, notes = noted(table(6, "A", "New@6", "B@3", "C@4"), {"OrtApi": {2: 1, 3: 2, 4: 3, 5: 3}}, older)
    assert since(header) == [2, 6, 6, 6]
    assert notes == ["OrtApi: 2 members (B to C) stand at another index than in 1.5: they count as new in 1.6"]


def test_after_a_move_the_next_release_keeps_the_place() -> None:
    first = read(table(5, "A@2", "B@3"))
    second = read(table(6, "A", "New@6", "B"), older=[first])
    assert since(read(table(7, "A", "New", "B", "C@7"), older=[first, second])) == [2, 6, 6, 7]


def test_types_keep_what_their_comment_says_and_nothing_is_guessed() -> None:
    text = "/** \\since 1.3 */\ntypedef enum OrtE { OrtE_A } OrtE;\ntypedef void (*OrtF)(int x);\n"
    older = read(table(5, "A"))
    header, notes = noted(table(6, "A") + text, {}, older)
    assert (header.enums["OrtE"].since, header.callbacks["OrtF"].since) == (6, None)
    assert notes == ["OrtE is there since 1.3 by its place or comment, but the 1.5 headers lack it"]


@settings(deadline=None)
@given(st.lists(st.integers(1, 4), min_size=3, max_size=8))
def test_importing_release_by_release_gives_the_release_that_first_held_each_slot(added: list[int]) -> None:
    names: list[str] = []
    truth: list[int] = []
    snapshots: list[Header] = []
    for version, count in enumerate(added, 1):
        names += [f"F{len(names) + i}" for i in range(count)]
        truth += [version] * count
        snapshots.append(read(table(version, *names), older=snapshots))
        if version > 1:  # with nothing older, nothing is known
            assert since(snapshots[-1])[added[0] :] == truth[added[0] :]


def test_the_committed_sizes_load_and_never_shrink() -> None:
    for sizes in load_tables(TABLES).values():
        assert list(sizes) == sorted(sizes) and list(sizes.values()) == sorted(sizes.values())


@pytest.mark.parametrize("text", ["x = [", "[OrtApi]\none = 2", "OrtApi = 3", '[OrtApi]\n1 = "many"'])
def test_damaged_sizes_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "tables.toml").write_text(text)
    with pytest.raises(GenError, match="is damaged"):
        load_tables(tmp_path / "tables.toml")
