"""``python -m gen check``: stale output, oracles that disagree or are missing fail, and nothing else does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gen import check, snapshot
from gen.build import newest_snapshot
from gen.cli import main
from gen.paths import ABI, RAW
from tests.support.oracles import compiler, headers, need
from tests.support.small_headers import MAIN, folder

#: A header set that every oracle but the library can read in a moment.
SMALL = MAIN.replace("#define ORT_API_CALL __stdcall\n", "#ifndef ORT_API_CALL\n#define ORT_API_CALL\n#endif\n")

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    def run(*arguments: str) -> tuple[int, str]:
        code = main(["check", *arguments])
        return code, capsys.readouterr().out

    return run


@pytest.fixture
def committed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of what is committed, to be damaged; no headers are fetched there."""
    shutil.copytree(ABI, tmp_path / "abi")
    shutil.copytree(RAW, tmp_path / "raw", ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(check, "ABI", tmp_path / "abi")
    monkeypatch.setattr(check, "RAW", tmp_path / "raw")
    monkeypatch.setattr(check, "UPSTREAM", tmp_path / "upstream")
    return tmp_path


@pytest.fixture
def small(tmp_path: Path) -> str:
    return str(folder(tmp_path / "small", SMALL))


def test_fresh_output_passes_and_oracles_without_headers_are_reported(committed: Path, run: Run) -> None:
    code, out = run()
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "the committed output is what the generator gives"
    assert [line.partition(": ")[2] for line in lines[1:3]] == [
        "not run: no upstream headers are here: `python -m gen fetch` brings them"
    ] * 2


@pytest.mark.parametrize("name", ["_declarations.py", "enums.py", "constants.py", "__init__.py", "__init__.pyi"])
def test_a_stale_module_fails_with_its_diff(name: str, committed: Path, run: Run) -> None:
    path = committed / "raw" / name
    text = path.read_text("utf-8")
    path.write_text(text.replace("ort-1.29.json", "ort-1.28.json"), "utf-8")
    code, out = run()
    assert code == 1
    assert f"{name} is stale" in out and f"--- {name} (committed)" in out
    assert "-# From the ABI snapshot headers/abi/ort-1.28.json" in out
    assert "+# From the ABI snapshot headers/abi/ort-1.29.json" in out


def test_a_missing_module_fails(committed: Path, run: Run) -> None:
    (committed / "raw" / "enums.py").unlink()
    code, out = run()
    assert code == 1 and "--- enums.py (missing)" in out


def test_a_changed_snapshot_makes_the_modules_stale(committed: Path, run: Run) -> None:
    path = newest_snapshot(committed / "abi")
    path.write_text(path.read_text("utf-8").replace('"CreateStatus"', '"MakeStatus"'), "utf-8")
    code, out = run()
    assert code == 1
    assert '-        ("CreateStatus", 1,' in out and '+        ("MakeStatus", 1,' in out


def test_line_ends_count(committed: Path, run: Run) -> None:
    path = committed / "raw" / "enums.py"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert run()[0] == 1


@pytest.mark.parametrize("required", ["ctypesgen", "compiler", "compiler,library", "all"])
def test_a_required_oracle_that_did_not_run_fails(required: str, committed: Path, run: Run) -> None:
    code, out = run("--require", required)
    assert code == 1 and "it was required, and did not run" in out


def test_a_folder_of_headers_is_read_by_the_oracles(committed: Path, small: str, run: Run) -> None:
    compiler()
    code, out = run("--headers", small, "--require", "ctypesgen,compiler")
    assert code == 0, out
    assert f"ctypesgen, {small}: ran: 2 handles, 2 structs, 4 members, 1 enums, 2 enumerators compared" in out
    assert f"compiler, {small}: ran: 2 structs, 4 members, 4 types, 1 enums, 2 enumerators, 1 constants, 1 keys" in out


def test_an_oracle_that_disagrees_fails(committed: Path, small: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    compiler()
    real = check.import_headers

    def lying(*arguments: Any, **options: Any) -> Any:
        imported = real(*arguments, **options)
        members = imported.header.records["OrtPoint"].members
        members[0], members[1] = members[1], members[0]
        return imported

    monkeypatch.setattr(check, "import_headers", lying)
    code, out = run("--headers", small)
    assert code == 1
    assert "  OrtPoint member 0: y here, x there" in out and "  offsetof OrtPoint.y: 0 here, 4 in C" in out


def test_json_says_the_same(committed: Path, small: str, run: Run) -> None:
    code, out = run("--headers", small, "--json")
    document = json.loads(out)
    assert code == 0 and document["ok"] is True and document["stale"] == {}
    first = document["oracles"][0]
    assert (first["oracle"], first["status"], first["counts"]["structs"]) == ("ctypesgen", "ran", 2)
    (committed / "raw" / "enums.py").unlink()
    code, out = run("--json", "--require", "compiler")
    document = json.loads(out)
    assert code == 1 and document["ok"] is False and "enums.py" in document["stale"]
    missing = next(o for o in document["oracles"] if o["oracle"] == "compiler")
    assert missing["required"] is True and missing["status"] == "not run" and "fetch" in missing["why"]


def test_bad_usage_and_unreadable_headers_exit_2(committed: Path, run: Run, tmp_path: Path) -> None:
    for arguments in (["--require", "nothing"], ["--unknown"]):
        with pytest.raises(SystemExit) as stopped:
            run(*arguments)
        assert stopped.value.code == 2
    assert run("--headers", str(tmp_path / "nowhere"))[0] == 2
    assert run("--headers", "1.29")[0] == 2  # pinned, and not fetched there
    broken = folder(tmp_path / "broken", MAIN + "struct Bad { int x[]; };\n")
    assert run("--headers", str(broken))[0] == 2


def test_a_library_may_be_named(committed: Path, run: Run, tmp_path: Path) -> None:
    (tmp_path / "broken.so").write_text("no library")
    code, out = run("--library", str(tmp_path / "broken.so"))
    assert code == 1 and "broken.so does not load" in out


def test_both_fetched_sets_agree_with_every_oracle(run: Run) -> None:
    headers("1.26"), headers("1.29")
    compiler()
    need("onnxruntime", check.oracle_library.find_library())
    code, out = run("--require", "all")
    assert code == 0, out
    assert out.count(": ran: ") == 7 and "not run" not in out


def test_a_stale_snapshot_fails_with_its_diff(committed: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    headers("1.29")
    monkeypatch.setattr(check, "UPSTREAM", headers("1.29").parent)
    path = committed / "abi" / "ort-1.29.json"
    header = snapshot.load(path)
    header.enums["OrtErrorCode"].values["ORT_FAIL"] = 77
    snapshot.dump(header, path)
    code, out = run("--headers", "1.29")
    assert code == 1
    assert "--- ort-1.29.json (committed)" in out and '-    "ORT_FAIL": 77' in out and '+    "ORT_FAIL": 1' in out
    assert "OrtErrorCode.ORT_FAIL: 77 here, 1 there" in out
