"""Snapshots: what is written reads back, in lines that `git diff` shows well."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gen import snapshot
from gen.errors import GenError
from gen.model import Callback, CType, Enum, Function, Header, Member, Param, Record
from gen.paths import ABI
from tests.support.small_headers import read

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,12}", fullmatch=True)
sinces = st.none() | st.integers(1, 40)
bases = st.sampled_from(["int", "unsigned long long", "ORTCHAR_T", "void", "OrtEnv", "size_t", "signed char"])
types = st.builds(
    CType,
    bases,
    st.booleans(),
    st.lists(st.booleans(), max_size=3).map(tuple),
    st.lists(st.integers(1, 99), max_size=2).map(tuple),
)
params = st.lists(st.builds(Param, names, types), max_size=3).map(tuple)
functions = st.builds(Function, types, params, st.sampled_from(["stdcall", "cdecl"]))
slots = st.builds(Member, names, functions, sinces)
fields = st.builds(Member, names, types, sinces, st.none() | st.integers(1, 8), anonymous=st.booleans())
values = st.dictionaries(names, st.integers(-(2**31), 2**32 - 1), min_size=1)


@st.composite
def headers(draw: st.DrawFn) -> Header:
    header = Header(release=draw(st.text()))
    header.handles = ["OrtEnv", *draw(st.lists(names, max_size=3))]
    for name in draw(st.sets(names, max_size=4)):
        members = draw(st.lists(slots | fields, max_size=4))
        kind = draw(st.sampled_from(["struct", "union"]))
        header.records[name] = Record(name, members, kind, draw(st.none() | st.integers(1, 8)), draw(sinces))
    header.enums = {
        n: Enum(n, draw(values), draw(st.booleans()), draw(sinces)) for n in draw(st.sets(names, max_size=3))
    }
    header.callbacks = {n: Callback(n, draw(functions), draw(sinces)) for n in draw(st.sets(names, max_size=3))}
    header.functions = draw(st.dictionaries(names, functions, max_size=3))
    header.typedefs = draw(st.dictionaries(names, types, max_size=3))
    constants = st.integers() | st.floats(allow_nan=False) | st.text()
    header.constants = {
        **draw(st.dictionaries(names, constants, max_size=3)),
        "ORT_API_VERSION": draw(st.integers(1, 99)),
    }
    header.keys = draw(st.dictionaries(names, st.text(), max_size=3))
    header.skipped = draw(st.dictionaries(names, st.text(), max_size=3))
    header.sources = draw(st.dictionaries(st.text(), st.text(), max_size=3))
    return header


@settings(deadline=None)
@given(headers())
def test_every_header_reads_back_equal_and_writes_the_same_bytes(header: Header) -> None:
    text = snapshot.dumps(header)
    again = snapshot.loads(text)
    assert again == header
    assert snapshot.dumps(again) == text
    assert json.loads(text)["api_version"] == header.api_version


@settings(deadline=None)
@given(types)
def test_a_type_reads_back_from_its_text(kind: CType) -> None:
    assert CType.parse(str(kind)) == kind


def test_one_slot_stands_on_one_line_with_its_index_and_since_version() -> None:
    slot = '"index": 1, "name": "ReleaseEnv", "since": 2, "returns": "void", "params": ["OrtEnv* env"]'
    assert f'    {{{slot}, "convention": "stdcall"}}\n' in snapshot.dumps(read())


def test_an_appended_slot_changes_one_line_and_the_comma_before_it() -> None:
    before = read()
    after = read()
    after.records["OrtApi"].members.append(Member("New", Function(CType("void")), 30))
    old, new = (snapshot.dumps(header).splitlines() for header in (before, after))
    assert len(new) == len(old) + 1
    assert [line.rstrip(",") for line in new if line.rstrip(",") not in {o.rstrip(",") for o in old}] == [
        '    {"index": 2, "name": "New", "since": 30, "returns": "void", "params": [], "convention": "cdecl"}'
    ]


def test_the_bytes_on_disk_have_plain_line_ends(tmp_path: Path) -> None:
    snapshot.dump(read(), tmp_path / "x.json")
    assert (tmp_path / "x.json").read_bytes() == snapshot.dumps(read()).encode()


@pytest.mark.parametrize("path", sorted(ABI.glob("*.json")), ids=lambda path: path.name)
def test_the_committed_snapshots_are_in_the_form_that_is_written(path: Path) -> None:
    header = snapshot.load(path)
    assert path.name == f"ort-{header.release}.json"
    assert snapshot.dumps(header) == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"format": 1', '"format": 2', "is not a snapshot of form 1"),
        ("{", "[", "is not a snapshot"),
        ('"release"', '"Release"', "is damaged"),
        ('"index": 1', '"index": 2', "has index 2 at place 1"),
        ('"since": 2', '"since": "2"', "is damaged"),
        ('"stdcall"', '"fastcall"', "fastcall"),
        ('"struct"', '"class"', "class"),
        ('"OrtEnv* env"', '"OrtGone* env"', "the type OrtGone is not declared"),
        ('"OrtEnv* env"', '"OrtEnv& env"', "not a type as snapshots write it"),
        ('"ORT_RED": 0', '"ORT_RED": 0.5', "is damaged"),
    ],
)
def test_a_damaged_snapshot_is_refused_by_name(tmp_path: Path, old: str, new: str, message: str) -> None:
    path = tmp_path / "ort-1.30.json"
    text = snapshot.dumps(read())
    assert old in text
    path.write_text(text.replace(old, new, 1), "utf-8")
    with pytest.raises(GenError, match=message) as caught:
        snapshot.load(path)
    assert "ort-1.30.json" in str(caught.value)


@pytest.mark.parametrize("data", [None, b"", b"\xff\xfe", b"[1, 2]"])
def test_what_is_no_snapshot_is_refused(tmp_path: Path, data: bytes | None) -> None:
    path = tmp_path / "x.json"
    if data is not None:
        path.write_bytes(data)
    with pytest.raises(GenError, match=r"x\.json"):
        snapshot.load(path)
