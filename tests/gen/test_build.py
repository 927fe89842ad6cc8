"""`python -m gen build`: the same bytes everywhere, its own files alone, and headers of releases to come."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gen import snapshot
from gen.build import build, newest_snapshot, write
from gen.cli import main
from gen.errors import GenError
from gen.importer import import_headers, load_snapshots
from gen.paths import ABI, OVERLAYS, RAW, ROOT, TABLES
from gen.since import load_tables
from tests.support.edited_headers import future_headers
from tests.support.generated import load
from tests.support.oracles import headers
from tests.support.small_headers import MAIN, read


@pytest.fixture(scope="module")
def future(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A snapshot of headers in which all that the overlays declare is upstream's own."""
    folder = tmp_path_factory.mktemp("future")
    edited = future_headers(headers("1.29"), folder / "headers", 33)
    imported = import_headers(edited, load_tables(TABLES), load_snapshots(ABI))
    snapshot.dump(imported.header, folder / "ort-1.33.json")
    return folder / "ort-1.33.json"


def test_the_committed_modules_are_what_the_newest_snapshot_and_the_overlays_give() -> None:
    files = build(newest_snapshot(ABI), OVERLAYS)
    assert sorted(files) == ["__init__.py", "__init__.pyi", "_declarations.py", "constants.py", "enums.py"]
    assert {name: (RAW / name).read_text("utf-8") for name in files} == files


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "0", "LC_ALL": "C", "PYTHONUTF8": "0"},
        {"PYTHONHASHSEED": "12345", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo"},
    ],
)
def test_the_bytes_do_not_depend_on_hash_seed_locale_or_working_directory(
    tmp_path: Path, environment: dict[str, str]
) -> None:
    (tmp_path / "elsewhere").mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "gen", "build", "--out", str(tmp_path / "out")],
        cwd=tmp_path / "elsewhere",
        env={**os.environ, **environment, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    written = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    assert written == {name: (RAW / name).read_bytes() for name in written}
    assert len(written) == 5 and all(b"\r" not in data for data in written.values())


def test_other_files_are_left_alone_and_unchanged_ones_are_not_written_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mine.py").write_text("# mine\n")
    assert main(["build", "--out", str(tmp_path)]) == 0
    before = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    (tmp_path / "enums.py").write_text("stale")
    capsys.readouterr()
    assert main(["build", "--out", str(tmp_path)]) == 0
    assert capsys.readouterr().out.rstrip().endswith("written: enums.py")
    after = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert [name for name in before if after[name] != before[name]] == ["enums.py"]
    assert (tmp_path / "mine.py").read_text() == "# mine\n"


def test_nothing_is_written_when_nothing_changed(capsys: pytest.CaptureFixture[str]) -> None:
    assert write(build(newest_snapshot(ABI), OVERLAYS), RAW) == []
    assert main(["build"]) == 0
    assert capsys.readouterr().out.rstrip().endswith("headers/abi/ort-1.29.json; nothing changed")


def test_the_newest_snapshot_is_that_of_the_highest_api_version(tmp_path: Path) -> None:
    for version in (9, 30, 10):
        snapshot.dump(read(MAIN.replace("VERSION 30", f"VERSION {version}")), tmp_path / f"ort-1.{version}.json")
    assert newest_snapshot(tmp_path).name == "ort-1.30.json"
    with pytest.raises(GenError, match="holds no snapshot"):
        newest_snapshot(tmp_path / "none")


def test_an_older_snapshot_takes_no_additions_of_newer_releases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["build", "--snapshot", str(ABI / "ort-1.26.json"), "--out", os.devnull]) == 2
    assert "import newer headers, or build without this overlay" in capsys.readouterr().err


def test_a_snapshot_can_be_built_alone(tmp_path: Path) -> None:
    assert main(["build", "--snapshot", str(ABI / "ort-1.26.json"), "--no-overlays", "--out", str(tmp_path)]) == 0
    raw = load({}, tmp_path)
    assert (raw.GENERATED_API_VERSION, raw.HEADERS_API_VERSION, len(raw.slots("OrtApi"))) == (26, 26, 419)


def test_overlays_can_be_chosen(tmp_path: Path) -> None:
    assert main(["build", "--overlay", str(OVERLAYS[0]), "--out", str(tmp_path)]) == 0
    raw = load({}, tmp_path)
    assert not any(slot.since == "proposed" for slot in raw.slots("OrtApi"))
    assert len(raw.slots("OrtApi")) == 429


def test_each_entry_that_steps_aside_is_named_once(
    future: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["build", "--snapshot", str(future), "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()[:-1]
    aside = [line.split(": ")[1].removesuffix(" steps aside") for line in lines]
    assert all(" steps aside: the imported headers " in line for line in lines)
    assert len(set(aside)) == len(aside) == 22
    assert {
        "OrtApi.SessionOptionsSetEpCacheDataFuncs",
        "OrtApi.SessionGetEpCacheDataCallbackSupport",
        "OrtEpApi.SessionOptionsGetEpCacheDataFuncs",
        "OrtEp.GetEpCacheDataCallbackSupport",
        "OrtEpCacheDataCallbackSupport",
        "OrtReadNamedBufferFunc",
        "OrtEpContextConfig",
        "OrtApi.placeholder_427",
    } <= set(aside)


def test_once_upstream_has_the_proposal_its_functions_are_ordinary_slots(future: Path, tmp_path: Path) -> None:
    raw = load(build(future, OVERLAYS), tmp_path)
    found = {
        (struct, slot.name): (index, slot.since)
        for struct in ("OrtApi", "OrtEpApi", "OrtEp")
        for index, slot in enumerate(raw.slots(struct))
        if "EpCacheData" in slot.name
    }
    assert found == {
        ("OrtApi", "SessionOptionsSetEpCacheDataFuncs"): (429, 33),
        ("OrtApi", "SessionGetEpCacheDataCallbackSupport"): (430, 33),
        ("OrtEpApi", "SessionOptionsGetEpCacheDataFuncs"): (78, 33),
        ("OrtEp", "GetEpCacheDataCallbackSupport"): (27, 33),
    }
    every = [slot for struct in raw._declarations.STRUCTS for slot in raw.slots(struct)]
    assert not any(slot.placeholder or slot.since == "proposed" for slot in every)
    assert raw.GENERATED_API_VERSION == raw.HEADERS_API_VERSION == 33
    assert ctypes.sizeof(raw.OrtApi) == 431 * ctypes.sizeof(ctypes.c_void_p)
    assert raw.OrtApi.SessionOptionsSetEpCacheDataFuncs.offset == 429 * ctypes.sizeof(ctypes.c_void_p)
