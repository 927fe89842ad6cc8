"""`python -m gen import`: headers to snapshots, those that nobody here has seen among them."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gen import snapshot
from gen.cli import main
from gen.commands import import_ as command
from gen.errors import GenError, UnsupportedConstruct
from gen.importer import import_headers, load_snapshots
from gen.paths import ABI, TABLES
from gen.since import load_tables
from tests.support.oracles import headers
from tests.support.small_headers import MAIN, folder


@pytest.mark.parametrize("release", ["1.26", "1.29"])
def test_the_committed_snapshots_are_what_the_pinned_headers_give(release: str) -> None:
    imported = import_headers(headers(release), load_tables(TABLES), load_snapshots(ABI), release)
    assert snapshot.dumps(imported.header) == (ABI / f"ort-{release}.json").read_text("utf-8")


@pytest.mark.parametrize("release", ["1.26", "1.29"])
def test_a_snapshot_does_not_depend_on_the_older_ones_that_are_there(release: str) -> None:
    alone = import_headers(headers(release), load_tables(TABLES), [], release).header
    assert snapshot.dumps(alone) == (ABI / f"ort-{release}.json").read_text("utf-8")


def test_the_real_tables_have_the_sizes_that_were_measured() -> None:
    header = import_headers(headers("1.29"), load_tables(TABLES)).header
    sizes = {name: len(header.records[name].members) for name in load_tables(TABLES)}
    assert sizes == {
        "OrtApiBase": 2,
        "OrtApi": 425,
        "OrtEpApi": 74,
        "OrtCompileApi": 16,
        "OrtModelEditorApi": 20,
        "OrtInteropApi": 13,
        "OrtEp": 26,
        "OrtEpFactory": 21,
        "OrtAllocator": 8,
        "OrtCustomOp": 26,
    }


def test_every_slot_of_a_real_table_has_a_since_version() -> None:
    tables = load_tables(TABLES)
    header = import_headers(headers("1.29"), tables).header
    assert [m.name for name in tables for m in header.records[name].members if m.since is None] == []


def test_a_wrong_comment_is_noted_and_the_measured_release_wins() -> None:
    imported = import_headers(headers("1.29"), load_tables(TABLES))
    found = imported.header.records["OrtCompileApi"].find("ModelCompilationOptions_SetInputModel")
    assert found is not None and found[1].since == 25
    [note] = imported.notes
    assert note.startswith("OrtCompileApi.ModelCompilationOptions_SetInputModel says it is there since 1.24; ")
    assert note.endswith("the headers of 1.25 hold it first")


def test_old_headers_without_ep_error_code_and_key_headers_are_read(tmp_path: Path) -> None:
    imported = import_headers(folder(tmp_path / "old", MAIN.replace("VERSION 30", "VERSION 4")), {})
    assert (imported.header.release, imported.header.api_version) == ("1.4", 4)
    assert list(imported.header.sources) == ["onnxruntime_c_api.h"]


def test_headers_that_the_main_one_includes_are_read_once(tmp_path: Path) -> None:
    text = MAIN.replace("typedef struct OrtEnv", '#include "onnxruntime_error_code.h"\ntypedef struct OrtEnv')
    text += '#include "onnxruntime_ep_c_api.h"\n'
    path = folder(
        tmp_path,
        text,
        onnxruntime_error_code="typedef enum OrtErrorCode { ORT_OK } OrtErrorCode;",  # neither has a guard
        onnxruntime_ep_c_api="struct OrtEp { uint32_t ort_version_supported; };",
        onnxruntime_env_config_keys='static const char* const kOrtEnvKey = "env.key";',
        onnxruntime_cxx_api="this is not C",
    )
    header = import_headers(path, {}).header
    assert {"OrtEp", "OrtApi"} <= header.records.keys() and "OrtErrorCode" in header.enums
    assert header.keys == {"kOrtKey": "session.key", "kOrtEnvKey": "env.key"}
    assert len(header.sources) == 4


def test_a_checkout_is_read_from_its_include_folder(tmp_path: Path) -> None:
    folder(tmp_path / "include/onnxruntime/core/session")
    assert "OrtApi" in import_headers(tmp_path, {}).header.records


def test_headers_of_another_release_than_named_are_refused(tmp_path: Path) -> None:
    with pytest.raises(GenError, match=r"they are of release 1\.30, not 1\.31"):
        import_headers(folder(tmp_path), {}, release="1.31")


def test_what_is_not_understood_stops_the_import_with_its_place(tmp_path: Path) -> None:
    path = folder(tmp_path, MAIN + "struct OrtFlex { int n; int tail[]; };\n")
    with pytest.raises(UnsupportedConstruct, match=rf"onnxruntime_c_api\.h:{MAIN.count(chr(10)) + 1}: .*tail"):
        import_headers(path, {})


def test_the_command_writes_a_snapshot_that_reads_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder(tmp_path / "in", MAIN + "#define ORT_CAST(x) ((int)(x))\n#define ORT_EMPTY\n")
    assert main(["import", "--from", str(path), "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "API version 30" in out and "2 structs, 4 members" in out
    assert "2 macros are no constants and were skipped (-v names them)" in out
    header = snapshot.load(tmp_path / "out" / "ort-1.30.json")
    assert header.skipped == {"ORT_CAST": "it takes arguments", "ORT_EMPTY": "it is empty"}


def test_verbose_names_each_skipped_macro_with_the_reason(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = folder(tmp_path / "in", MAIN + "#define ORT_CAST(x) ((int)(x))\n")
    main(["import", "--from", str(path), "-o", str(tmp_path), "-v"])
    assert "skipped macro ORT_CAST: it takes arguments" in capsys.readouterr().out


def test_a_release_that_was_not_fetched_says_how_to_fetch_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "1.2"]) == 2
    assert "`python -m gen fetch 1.2` brings it" in capsys.readouterr().err


def test_fetched_headers_that_were_changed_are_not_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(headers("1.29"), tmp_path / "1.29")
    with (tmp_path / "1.29" / "onnxruntime_c_api.h").open("a") as opened:
        opened.write("\n")
    monkeypatch.setattr(command, "UPSTREAM", tmp_path)
    assert main(["import", "1.29", "-o", str(tmp_path)]) == 2
    assert "`python -m gen fetch 1.29` mends it" in capsys.readouterr().err
    assert not (tmp_path / "ort-1.29.json").exists()


def test_fetched_headers_that_nothing_pins_are_imported_with_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder(tmp_path / "1.30")
    monkeypatch.setattr(command, "UPSTREAM", tmp_path)
    assert main(["import", "1.30", "-o", str(tmp_path)]) == 0
    assert "1.30 is not pinned in headers/sources.toml: these headers are not verified" in capsys.readouterr().out


def test_a_folder_takes_one_release(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "1.29", "1.30", "--from", str(tmp_path)]) == 2
    assert "--from takes one RELEASE at most" in capsys.readouterr().err
