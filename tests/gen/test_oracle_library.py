"""The third oracle: functions in every slot of a real library, and each gap in a made-up one named."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from gen import oracle_library, snapshot
from gen.build import lay, newest_snapshot
from gen.errors import GenError
from gen.model import Header
from gen.oracle_library import compare, find_library
from gen.paths import ABI, OVERLAYS
from tests.support.oracles import compiler, need
from tests.support.small_headers import read

DECLARED = r"""
#define ORT_API_VERSION 5
typedef struct OrtEpApi { void (ORT_API_CALL* Ep)(int); } OrtEpApi;
typedef struct OrtApi {
  void (ORT_API_CALL* One)(int);
  const OrtEpApi* (ORT_API_CALL* GetEpApi)(void);
  void (ORT_API_CALL* Three)(int);
  void (ORT_API_CALL* Later)(int);
} OrtApi;
typedef struct OrtApiBase {
  const OrtApi* (ORT_API_CALL* GetApi)(uint32_t version);
  const char* (ORT_API_CALL* GetVersionString)(void);
} OrtApiBase;
"""

LIBRARY = r"""
#include <stddef.h>
#include <stdint.h>
static void work(int x) { (void)x; }
static const void* const ep_api[] = { EP_SLOT };
static const void* get_ep_api(void) { return EP_API; }
static const void* const api[] = { work, get_ep_api, SLOT };
static const void* get_api(uint32_t version) { return version <= KNOWN ? API : NULL; }
static const char* get_version(void) { return VERSION; }
static const void* const base[] = { get_api, get_version };
const void* ENTRY(void) { return base; }
"""

RIGHT = {
    "EP_SLOT": "work", "EP_API": "ep_api", "SLOT": "work", "API": "api", "KNOWN": "4", "VERSION": '"1.4.7"',
    "ENTRY": "OrtGetApiBase",
}  # fmt: skip


@pytest.fixture
def header() -> Header:
    header = read(DECLARED)
    for record in header.records.values():
        for member, since in zip(record.members, (1, 2, 4, 5), strict=False):
            member.since = since
    return header


@pytest.fixture
def library(tmp_path: Path) -> Callable[..., Path]:
    command = compiler()

    def make(**changed: str) -> Path:
        path = tmp_path / f"libmade{len(list(tmp_path.iterdir()))}.so"
        source = path.with_suffix(".c")
        source.write_text(LIBRARY, "utf-8")
        defined = [f"-D{name}={value}" for name, value in (RIGHT | changed).items()]
        subprocess.run([command, "-w", "-shared", "-fPIC", *defined, "-o", str(path), str(source)], check=True)
        return path

    return make


def test_a_library_with_every_slot(header: Header, library: Callable[..., Path]) -> None:
    path = library()
    assert compare(header, "small", path).lines() == [
        f"library, small on {path.name} at API version 4: ran: 2 tables, 4 slots compared"
    ]


@pytest.mark.parametrize(
    ("changed", "problem"),
    [
        ({"SLOT": "NULL"}, "OrtApi slot 2 Three is since 1.4, but NULL in the library"),
        ({"EP_SLOT": "NULL"}, "OrtEpApi slot 0 Ep is since 1.1, but NULL in the library"),
        ({"EP_API": "NULL"}, "OrtEpApi: the library gives NULL"),
        ({"API": "NULL"}, "GetApi(4) of a library that calls itself 1.4.7 gives NULL"),
        ({"KNOWN": "3"}, "GetApi(4) of a library that calls itself 1.4.7 gives NULL"),
    ],
)
def test_a_gap_is_named(changed: dict[str, str], problem: str, header: Header, library: Callable[..., Path]) -> None:
    report = compare(header, "small", library(**changed))
    assert report.status == "failed" and report.problems == [problem]


def test_what_is_no_function_of_the_library_is_named(header: Header, library: Callable[..., Path]) -> None:
    need("linux", sys.platform == "linux")
    report = compare(header, "small", library(SLOT="(void*)ep_api"))
    assert report.problems == ["OrtApi slot 2 Three is since 1.4, but holds no function of the library"]


def test_a_slot_too_many_in_the_snapshot_is_named(header: Header, library: Callable[..., Path]) -> None:
    header.records["OrtEpApi"].members.append(header.records["OrtApi"].members[0])
    report = compare(header, "small", library(EP_SLOT="work,NULL"))
    assert report.problems == ["OrtEpApi slot 1 One is since 1.1, but NULL in the library"]


def test_a_slot_without_a_since_version_is_named(header: Header, library: Callable[..., Path]) -> None:
    header.records["OrtApi"].members[0].since = None
    assert compare(header, "small", library()).problems == ["OrtApi slot 0 One: its since-version is not known"]


def test_a_newer_library_is_asked_for_what_the_snapshot_knows(header: Header, library: Callable[..., Path]) -> None:
    report = compare(header, "small", library(VERSION='"1.9.0"', KNOWN="9", SLOT="work,work"))
    assert "at API version 5: ran: 2 tables, 5 slots" in report.lines()[0]


def test_a_file_that_is_no_library(header: Header, library: Callable[..., Path], tmp_path: Path) -> None:
    (tmp_path / "text.so").write_text("text")
    assert "does not load" in compare(header, "small", tmp_path / "text.so").problems[0]
    with pytest.raises(GenError, match="exports no OrtGetApiBase"):
        compare(header, "small", library(ENTRY="Other"))


def test_without_a_wheel_it_does_not_run(header: Header, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    report = compare(header, "small")
    assert report.status == "not run" and "no onnxruntime wheel" in report.lines()[0]


@pytest.mark.parametrize("name", ["libonnxruntime.so.1.32.0", "libonnxruntime.1.32.0.dylib", "onnxruntime.dll"])
def test_the_wheels_library_is_found_under_every_name(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "onnxruntime" / "capi"
    folder.mkdir(parents=True)
    (tmp_path / "onnxruntime" / "__init__.py").write_text("raise RuntimeError('imported')")
    for file in ("libonnxruntime_providers_shared.so", "libonnxruntime_providers_shared.dylib", name):
        (folder / file).touch()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    assert find_library() == folder / name


@pytest.mark.parametrize("snapshot_name", ["ort-1.26.json", "ort-1.29.json", "with the overlays"])
def test_the_installed_library_has_every_slot(snapshot_name: str) -> None:
    need("onnxruntime", oracle_library.find_library())
    laid = snapshot_name == "with the overlays"
    header = lay(newest_snapshot(ABI), OVERLAYS)[0] if laid else snapshot.load(ABI / snapshot_name)
    report = compare(header, snapshot_name)
    assert report.status == "ran", report.lines()
    assert report.counts["tables"] == 5 and report.counts["slots"] > 500
