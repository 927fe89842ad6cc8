"""Upstream's own headers: what is in them is in the model, and nothing is lost on the way."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

from gen.importer import import_headers
from gen.model import CType, Function, Header
from gen.origins import from_folder
from gen.parse import parse
from gen.paths import TABLES
from gen.preprocess import preprocess
from gen.since import load_tables
from gen.sources import root_files
from tests.support.oracles import headers

RELEASES = ("1.26", "1.29")

#: How many members the tables have: a C compiler's sizeof, divided by that of a pointer.
SIZES = {
    "1.26": {"OrtApi": 419, "OrtEpApi": 73, "OrtEp": 22, "OrtEpFactory": 20, "OrtCompileApi": 15},
    "1.29": {"OrtApi": 425, "OrtEpApi": 74, "OrtEp": 26, "OrtEpFactory": 21, "OrtCompileApi": 16},
}


@cache
def read(release: str) -> Header:
    return import_headers(headers(release), load_tables(TABLES)).header


@pytest.fixture(params=RELEASES)
def release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_table_has_all_its_members(release: str) -> None:
    header = read(release)
    assert {name: len(header.records[name].members) for name in SIZES[release]} == SIZES[release]
    assert header.api_version == int(release.split(".")[1])


def test_every_slot_of_a_table_is_a_stdcall_function_with_a_since_version(release: str) -> None:
    header = read(release)
    for name in ("OrtApi", "OrtEpApi", "OrtCompileApi", "OrtModelEditorApi", "OrtInteropApi"):
        for member in header.records[name].members:
            assert isinstance(member.type, Function) and member.type.convention == "stdcall", member.name
            assert member.since is not None and 1 <= member.since <= header.api_version, member.name


def test_every_type_that_is_used_is_declared(release: str) -> None:
    header = read(release)
    kinds = [m.type for r in header.records.values() for m in r.members]
    kinds += [c.type for c in header.callbacks.values()] + list(header.functions.values())
    flat = [t for kind in kinds if isinstance(kind, Function) for t in (kind.returns, *(p.type for p in kind.params))]
    for kind in [*flat, *(k for k in kinds if isinstance(k, CType)), *header.typedefs.values()]:
        assert header.knows(kind.base), kind


def test_every_name_that_a_plain_search_finds_is_there(release: str) -> None:
    # Each of these patterns finds declarations in another way than the generator does: by how the text looks.
    folder = headers(release)
    files = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.h"))}
    header = read(release)
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", "\n".join(files[name] for name in header.sources), flags=re.DOTALL)
    members = {m.name for r in header.records.values() for m in r.members}
    slots = re.findall(r"\(\s*ORT_API_CALL\s*\*\s*(\w+)\s*\)", text) + re.findall(
        r"ORT_API2_STATUS\(\s*(\w+)\s*,", text
    )
    assert set(slots) - {"NAME"} <= members | set(header.callbacks)
    assert {f"Release{name}" for name in re.findall(r"^\s*ORT_CLASS_RELEASE\((\w+)\)", text, re.M)} <= members
    assert {f"Ort{name}" for name in re.findall(r"^\s*ORT_RUNTIME_CLASS\((\w+)\)", text, re.M)} <= {
        *header.handles,
        *header.records,
    }
    assert set(re.findall(r"^\s*typedef enum (\w+)", text, re.M)) <= set(header.enums)
    assert set(re.findall(r"^static const char\* const (\w+) =", text, re.M)) >= set(header.keys)
    assert len(header.keys) > 70
    defined = set(re.findall(r"^\s*#\s*define\s+(\w+)", text, re.M))
    listed = set(header.constants) | set(header.skipped)
    assert listed <= defined and {"ORT_API_VERSION", "ORT_API2_STATUS", "ORT_EXPORT", "NO_EXCEPTION"} <= listed


def test_what_differs_by_platform_stays_what_it_is_called(release: str) -> None:
    header = read(release)
    open_session = header.records["OrtApi"].find("CreateSession")
    assert open_session is not None and isinstance(open_session[1].type, Function)
    assert [str(p.type) for p in open_session[1].type.params] == [
        "const OrtEnv*", "const ORTCHAR_T*", "const OrtSessionOptions*", "OrtSession**",
    ]  # fmt: skip
    assert header.skipped["ORT_TSTR"] == "it takes arguments"


def test_line_ends_and_the_folder_change_nothing(release: str, tmp_path: Path) -> None:
    folder = headers(release)
    for path in folder.glob("*.h"):
        (tmp_path / path.name).write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    [found] = from_folder(folder)
    names = root_files(found.files)
    ours = parse(preprocess([folder / name for name in names]))
    theirs = parse(preprocess([tmp_path / name for name in names]))
    ours.sources = theirs.sources = {}
    assert ours == theirs
    assert [r.coord for r in ours.records.values()] == [r.coord for r in theirs.records.values()]
