"""The four groups once more, on a library that has the functions itself: in a process of its own, see
``tests.support.backends``."""

from __future__ import annotations

import os
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest

import ortcache

from ..support.backends import wanted
from ..support.installed import library_file
from ..support.native_package import native_package
from ..support.oracles import ROOT

GROUPS = ("options", "round_trip", "failures", "compatibility")
_RUN = "import sys, ortcache, pytest; sys.exit(pytest.main(sys.argv[1:]))"

Results = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Of each group how many tests passed, failed and were skipped."""
    with ortcache.load(library_file()) as rt:
        if rt.native.library_api_version < 31:
            pytest.skip("a library of the future has every function of 1.31, and this one lends it its own")
    folder = tmp_path_factory.mktemp("future")
    report = folder / "report.xml"
    files = [str(path) for group in GROUPS for path in sorted(Path(__file__).parent.glob(f"test_{group}*.py"))]
    command = [sys.executable, "-c", _RUN, "-p", "no:cacheprovider", "-q", f"--junitxml={report}", *files]
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **native_package(folder)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert report.exists(), done.stdout + done.stderr
    found: Results = {group: Counter() for group in GROUPS}
    for case in ElementTree.parse(report).iter("testcase"):
        module = case.attrib["classname"].rpartition(".")[2]
        group = next(group for group in GROUPS if module.startswith(f"test_{group}"))
        outcome = next((child.tag for child in case if child.tag in ("failure", "error", "skipped")), "passed")
        found[group][outcome] += 1
    print(done.stdout[-10000:], done.stderr[-2000:])
    return found


@pytest.mark.parametrize("group", GROUPS)
def test_the_group_passes_on_the_native_path(results: Results, group: str) -> None:
    assert wanted() == "host"
    counts = results[group]
    assert not counts["failure"] and not counts["error"], f"see the captured output: {dict(counts)}"
    assert counts["passed"] > 10
