"""`python -m gen diff` as a command: releases, files and folders in; text, JSON and an exit code out."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gen import snapshot
from gen.cli import main
from gen.paths import ABI
from tests.support.edited_headers import edited_headers, slot
from tests.support.oracles import headers
from tests.support.small_headers import MAIN, folder, read


def test_the_committed_snapshots_are_append_only_one_way(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "1.26", "1.29"]) == 0
    text = capsys.readouterr().out
    assert text.splitlines()[0] == "1.26 (API version 26) -> 1.29 (API version 29)"
    assert text.splitlines()[-1] == "append-only: 38 added, 1 changed"
    assert "    + [424] SessionOptionsSetWeightlessSourceModelBuffer: " in text and "!" not in text
    assert main(["diff", "1.29", "1.26"]) == 1
    text = capsys.readouterr().out
    assert "NOT append-only: 38 removed, 1 changed; 38 breaks:\n" in text
    assert "\n  OrtApi[424].SessionOptionsSetWeightlessSourceModelBuffer: removed\n" in text


def test_json_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "1.29", "1.26", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["append_only"], data["breaks"], len(data["changes"])) == (False, 38, 39)
    assert (data["old"]["release"], data["new"]["api_version"]) == ("1.29", 26)
    assert {
        "kind": "removed",
        "category": "struct",
        "name": "OrtEp",
        "member": "GetWeightlessSupport",
        "index": 25,
        "breaking": True,
        "detail": "was stdcall OrtStatus*(const OrtEp* this_ptr, OrtWeightlessSupport* support)",
    } in data["changes"]
    assert main(["diff", "1.29", "1.29", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["append_only"] is True


def test_a_header_with_a_slot_appended_and_then_one_inserted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = slot("BrandNew", 30)
    appended = edited_headers(headers("1.29"), tmp_path / "a", append={"OrtApi": [new]}, api_version=30)
    assert main(["import", "--from", str(appended), "-o", str(tmp_path)]) == 0
    assert (
        main(["build", "--no-overlays", "--snapshot", str(tmp_path / "ort-1.30.json"), "--out", str(tmp_path / "raw")])
        == 0
    )
    capsys.readouterr()
    assert main(["diff", "1.29", str(tmp_path / "ort-1.30.json")]) == 0
    assert capsys.readouterr().out == (
        "1.29 (API version 29) -> 1.30 (API version 30)\n"
        "struct OrtApi\n"
        "    + [425] BrandNew: stdcall OrtStatus*(const OrtEnv* env), since 1.30\n"
        "  ~ constant ORT_API_VERSION: 29 -> 30\n"
        "append-only: 1 added, 1 changed\n"
    )
    assert (
        '("BrandNew", 30, "OrtStatus*", "const OrtEnv* env"),  # 425' in (tmp_path / "raw/_declarations.py").read_text()
    )

    inserted = edited_headers(headers("1.29"), tmp_path / "i", insert=[("OrtApi", "Run", new)], api_version=30)
    assert main(["diff", "1.29", str(inserted)]) == 1
    assert capsys.readouterr().out == (
        "1.29 (API version 29) -> 1.30 (API version 30)\n"
        "struct OrtApi\n"
        "  ! ~ [10] Run: this and 415 more, to SessionOptionsSetWeightlessSourceModelBuffer, stand elsewhere: "
        "index 9 -> 10\n"
        "  ! + [9] BrandNew: stdcall OrtStatus*(const OrtEnv* env), since 1.30, inserted before what was there\n"
        "  ~ constant ORT_API_VERSION: 29 -> 30\n"
        "NOT append-only: 1 added, 1 moved, 1 changed; 2 breaks:\n"
        "  OrtApi[10].Run: moved\n"
        "  OrtApi[9].BrandNew: added\n"
    )


def test_releases_files_and_folders_can_be_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    snapshot.dump(read(), tmp_path / "x.json")
    other = folder(tmp_path / "headers", MAIN.replace("int32_t y;", ""))
    assert main(["diff", str(tmp_path / "x.json"), str(other)]) == 1
    assert "OrtPoint[1].y: removed" in capsys.readouterr().out
    assert main(["diff", "1.29", str(ABI / "ort-1.29.json")]) == 0
    assert capsys.readouterr().out.endswith("no change\n")


def test_what_is_not_there_is_said_with_what_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "1.26", "1.99"]) == 2
    assert "1.99 is no file, no folder and no release in headers/abi, which has 1.26, 1.29" in capsys.readouterr().err
