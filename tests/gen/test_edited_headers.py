"""The helper that edits upstream's headers as a later release would: what it writes is what was asked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from gen.importer import import_headers
from tests.support.edited_headers import edited_headers, future_headers, slot
from tests.support.oracles import headers
from tests.support.small_headers import MAIN, folder

COMMENTED = MAIN.replace(
    "struct OrtApi {",
    "/* struct OrtApi { } */\nstruct OrtApi {  // not } the end",
).replace("out);\n", 'out);  ///< ends here; not there }\n  /* "};" */\n')


def names(path: Path, struct: str = "OrtApi") -> list[str]:
    return [m.name for m in import_headers(path, {}).header.records[struct].members]


def test_slots_are_appended_and_inserted_where_they_were_asked_for(tmp_path: Path) -> None:
    source = folder(tmp_path / "source", COMMENTED)
    target = edited_headers(
        source,
        tmp_path / "target",
        append={"OrtApi": [slot("Last", 31)], "OrtPoint": ["int32_t z;"]},
        insert=[("OrtApi", "ReleaseEnv", slot("Middle", 31)), ("OrtApi", "CreateEnv", slot("First", 31))],
        api_version=31,
    )
    assert names(target) == ["First", "CreateEnv", "Middle", "ReleaseEnv", "Last"]
    assert names(target, "OrtPoint") == ["x", "y", "z"]
    header = import_headers(target, {}).header
    assert header.api_version == 31
    assert [m.since for m in header.records["OrtApi"].members] == [31, 1, 31, 2, 31]


def test_the_source_is_left_alone(tmp_path: Path) -> None:
    source = folder(tmp_path / "source", COMMENTED)
    edited_headers(source, tmp_path / "target", append={"OrtApi": [slot("Last", 31)]}, api_version=31)
    assert (source / "onnxruntime_c_api.h").read_text() == COMMENTED


def test_types_are_declared_in_front_of_the_table(tmp_path: Path) -> None:
    target = edited_headers(
        folder(tmp_path / "source"),
        tmp_path / "target",
        declare="typedef struct OrtNew OrtNew;",
        append={"OrtApi": [slot("Last", 31, "OrtNew* x")]},
    )
    assert names(target)[-1] == "Last"


@pytest.mark.parametrize(("struct", "member"), [("OrtNone", "CreateEnv"), ("OrtApi", "Nothing")])
def test_what_is_not_there_cannot_be_edited(tmp_path: Path, struct: str, member: str) -> None:
    with pytest.raises(ValueError, match=r"no struct OrtNone|no member Nothing"):
        edited_headers(folder(tmp_path / "source"), tmp_path / "target", insert=[(struct, member, slot("X", 31))])


def test_real_headers_take_slots_in_every_kind_of_struct(tmp_path: Path) -> None:
    target = edited_headers(
        headers("1.29"),
        tmp_path / "target",
        append={name: [slot("Last", 30)] for name in ("OrtApi", "OrtEpApi", "OrtCompileApi", "OrtEp", "OrtEpFactory")},
        insert=[("OrtApi", "ReleaseEnv", slot("Middle", 30)), ("OrtEp", "GetCapability", slot("Inner", 30))],
        api_version=30,
    )
    before, after = import_headers(headers("1.29"), {}).header, import_headers(target, {}).header
    for name, inserted in (("OrtApi", ("ReleaseEnv", "Middle")), ("OrtEp", ("GetCapability", "Inner"))):
        expected = [m.name for m in before.records[name].members]
        expected.insert(expected.index(inserted[0]), inserted[1])
        assert [m.name for m in after.records[name].members] == [*expected, "Last"]


def test_future_headers_hold_the_proposal_behind_everything_that_is_known(tmp_path: Path) -> None:
    target = future_headers(headers("1.29"), tmp_path / "target", 34)
    header = import_headers(target, {}).header
    assert header.api_version == 34
    assert [m.name for m in header.records["OrtApi"].members[425:]] == [
        "KernelContext_GetPreallocatedOutput",
        "SessionOptionsSetEpContextDataReadFunc",
        "Named_427",
        "Named_428",
        "SessionOptionsSetEpCacheDataFuncs",
        "SessionGetEpCacheDataCallbackSupport",
    ]
    assert [m.since for m in header.records["OrtApi"].members[425:]] == [30, 31, 31, 32, 34, 34]
    assert "OrtReadNamedBufferFunc" in header.callbacks and "OrtEpContextConfig" in header.handles
