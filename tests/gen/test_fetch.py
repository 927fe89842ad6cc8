"""`python -m gen fetch`: verified whole or not at all, written in one step, and not again without need."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from gen.cli import main
from gen.commands import fetch as command
from gen.errors import GenError
from gen.fetch import fetch, held
from gen.origins import Candidate, from_folder
from gen.paths import SOURCES
from gen.sources import HeaderSet, load_sources, toml_block
from tests.support.oracles import headers, need
from tests.support.small_headers import MAIN, folder

FILES = {"onnxruntime_c_api.h": MAIN.encode(), "x_config_keys.h": b"// keys\n"}
PINNED = HeaderSet("1.30", 30, {n: hashlib.sha256(d).hexdigest() for n, d in FILES.items()}, "name@1.2.3", "in/here")


@pytest.fixture
def upstream(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the command writes, with `PINNED` alone in its sources."""
    sources = tmp_path / "sources.toml"
    sources.write_text(toml_block(PINNED), "utf-8")
    monkeypatch.setattr(command, "SOURCES", sources)
    monkeypatch.setattr(command, "UPSTREAM", tmp_path / "upstream")
    return tmp_path / "upstream"


@pytest.fixture
def include(tmp_path: Path) -> Path:
    """An include folder with the pinned files and one that is none of the set's."""
    return folder(tmp_path / "include", x_config_keys="// keys\n", onnxruntime_cxx_api="// C++\n")


def contents(path: Path) -> dict[str, bytes]:
    return {p.relative_to(path).as_posix(): p.read_bytes() for p in path.rglob("*") if p.is_file()}


def test_a_pinned_set_is_written_whole_and_nothing_else(upstream: Path, include: Path) -> None:
    assert main(["fetch", "1.30", "--from", str(include)]) == 0
    assert contents(upstream) == {f"1.30/{name}": data for name, data in FILES.items()}


def test_without_a_release_the_headers_say_which_it_is(upstream: Path, include: Path) -> None:
    assert main(["fetch", "--from", str(include)]) == 0
    assert held(PINNED, upstream) == []


def test_a_set_that_is_there_is_verified_and_not_fetched_again(
    upstream: Path, include: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fetch", "--from", str(include)])
    monkeypatch.setenv("PATH", "")  # npm could not be found
    before = (upstream / "1.30").stat().st_ino
    assert main(["fetch"]) == 0
    assert "is there already, 2 files verified" in capsys.readouterr().out
    assert (upstream / "1.30").stat().st_ino == before


@pytest.mark.parametrize("damage", ["changed", "missing", "extra"])
def test_a_set_that_was_damaged_is_fetched_again(
    upstream: Path, include: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["fetch", "--from", str(include)])
    target = upstream / "1.30"
    if damage == "missing":
        (target / "x_config_keys.h").unlink()
    else:
        (target / {"changed": "x_config_keys.h", "extra": "y_config_keys.h"}[damage]).write_text("other")
    assert main(["fetch", "--from", str(include)]) == 0
    assert "is not what is pinned" in capsys.readouterr().out
    assert contents(upstream) == {f"1.30/{name}": data for name, data in FILES.items()}


def test_a_mismatch_names_the_file_and_both_hashes_and_leaves_nothing(
    upstream: Path, include: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (include / "x_config_keys.h").write_text("// keyS\n")
    assert main(["fetch", "1.30", "--from", str(include)]) == 2
    said = capsys.readouterr().err
    assert "x_config_keys.h has sha256 " + hashlib.sha256(b"// keyS\n").hexdigest() in said
    assert PINNED.sha256["x_config_keys.h"] in said
    assert "onnxruntime_c_api.h has" not in said and "Nothing was written" in said and said.count("\n") == 1
    assert not upstream.exists()


def test_a_mismatch_leaves_the_set_that_was_there(upstream: Path, include: Path) -> None:
    (upstream / "1.30").mkdir(parents=True)
    (upstream / "1.30" / "onnxruntime_c_api.h").write_text("older")
    (include / "x_config_keys.h").unlink()
    assert main(["fetch", "1.30", "--from", str(include)]) == 2
    assert contents(upstream) == {"1.30/onnxruntime_c_api.h": b"older"}


def test_windows_line_ends_are_written_as_they_were_pinned(upstream: Path, include: Path) -> None:
    for path in include.iterdir():
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert main(["fetch", "--from", str(include)]) == 0
    assert held(PINNED, upstream) == []


def test_of_several_copies_in_an_archive_the_one_that_fits_is_taken(tmp_path: Path) -> None:
    wrong = Candidate("a", {**FILES, "x_config_keys.h": b"?"}, "in/here")
    fetch(PINNED, [wrong, Candidate("b", dict(FILES), "elsewhere")], tmp_path)
    assert held(PINNED, tmp_path) == []


def test_a_failure_while_writing_puts_the_old_set_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "1.30").mkdir()
    (tmp_path / "1.30" / "onnxruntime_c_api.h").write_text("older")
    rename = Path.rename

    def full(self: Path, target: Path) -> Path:  # the disk's fault, at the last step
        if self.name == "fresh":
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(OSError, match="No space left"):
        fetch(PINNED, [Candidate("a", dict(FILES))], tmp_path)
    assert contents(tmp_path) == {"1.30/onnxruntime_c_api.h": b"older"}


def test_what_an_unpinned_fetch_prints_pins_that_set(
    upstream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    newer = folder(tmp_path / "newer", MAIN.replace("VERSION 30", "VERSION 31"), x_config_keys="")
    assert main(["fetch", "1.31", "--from", str(newer), "--unpinned"]) == 0
    said = capsys.readouterr().out
    assert "NOT verified" in said
    assert sorted(contents(upstream)) == ["1.31/onnxruntime_c_api.h", "1.31/x_config_keys.h"]
    sources = tmp_path / "sources.toml"
    sources.write_text(sources.read_text() + said[said.index("\n\n") :])
    assert held(load_sources(sources)["1.31"], upstream) == []
    assert main(["fetch", "1.31", "--from", str(newer)]) == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["1.31"], "1.31 is not pinned in"),
        (["1.31", "--unpinned"], "--unpinned takes one RELEASE, and one of --archive, --from and --npm"),
        (["--unpinned", "--from", "include"], "--unpinned takes one RELEASE"),
        (["1.30", "--unpinned", "--from", "include"], "1.30 is pinned: fetch it without --unpinned"),
        (["1.31", "--unpinned", "--from", "include"], "they are of release 1.30, not 1.31"),
        (["../x", "--unpinned", "--from", "include"], "is not a release"),
        (["--from", "older"], "the pinned releases are 1.30: name the release and add --unpinned"),
    ],
)
def test_what_cannot_be_fetched_is_refused_with_the_way_out(
    upstream: Path,
    include: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    folder(tmp_path / "older", MAIN.replace("VERSION 30", "VERSION 12"))
    monkeypatch.chdir(tmp_path)
    assert main(["fetch", *arguments]) == 2
    assert message in capsys.readouterr().err
    assert not upstream.exists()


def test_copies_that_differ_are_no_unpinned_set(
    upstream: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for copy, text in (("a", MAIN), ("b", MAIN + "int x;")):
        folder(tmp_path / "tree" / copy, text.replace("VERSION 30", "VERSION 31"))
    with tarfile.open(tmp_path / "x.tgz", "w:gz") as archive:
        archive.add(tmp_path / "tree", "tree")
    assert main(["fetch", "1.31", "--unpinned", "--archive", str(tmp_path / "x.tgz")]) == 2
    assert "differ: unpack the archive, and choose with --from" in capsys.readouterr().err


@pytest.mark.parametrize("release", ["1.26", "1.29"])
def test_the_real_headers_in_a_release_archive_are_the_pinned_ones(
    release: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    archive = tmp_path / f"onnxruntime-linux-x64-{release}.0.tgz"
    with tarfile.open(archive, "w:gz") as packed:
        packed.add(headers(release), f"onnxruntime-linux-x64-{release}.0/include")
    monkeypatch.setattr(command, "UPSTREAM", tmp_path / "upstream")
    assert main(["fetch", release, "--archive", str(archive)]) == 0
    assert contents(tmp_path / "upstream" / release) == from_folder(headers(release))[0].files


def test_npm_brings_a_pinned_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Some 130 MB: only where it was asked for.
    wanted = {"all", "npm"} & set(os.environ.get("ORTCACHE_TEST_REQUIRE", "").split(","))
    need("npm", wanted and shutil.which("npm"))
    monkeypatch.setattr(command, "UPSTREAM", tmp_path / "upstream")
    assert main(["fetch", "1.26"]) == 0
    assert held(load_sources(SOURCES)["1.26"], tmp_path / "upstream") == []


def test_a_candidate_list_without_a_fit_names_the_nearest(tmp_path: Path) -> None:
    far, near = Candidate("far", {}), Candidate("near", {"onnxruntime_c_api.h": FILES["onnxruntime_c_api.h"]})
    with pytest.raises(
        GenError, match=r"^near does not hold the 1\.30 headers that are pinned: x_config_keys\.h is missing"
    ):
        fetch(PINNED, [far, near], tmp_path)
