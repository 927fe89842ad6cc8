"""What a user gets with the wheel and the source archive."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import ortcache

from .support.oracles import ROOT


def _build(kind: str, folder: Path) -> Path:
    """Build with the declared backend itself, so that nothing is downloaded for it."""
    code = f"import sys, hatchling.build as b; print(b.build_{kind}(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / done.stdout.strip().splitlines()[-1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _build("wheel", tmp_path_factory.mktemp("wheel"))


def test_the_wheel_runs_on_every_python_3_and_every_platform(wheel: Path) -> None:
    assert wheel.name == f"ortcache-{ortcache.__version__}-py3-none-any.whl"


def test_the_wheel_holds_the_package_whole_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    tree = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "ortcache").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {"ortcache/py.typed", "ortcache/raw/__init__.pyi", "ortcache/cli/app.py"} <= tree
    assert {name for name in names if ".dist-info/" not in name} == tree


def test_the_wheel_runs_from_where_it_is_unpacked(wheel: Path, tmp_path: Path) -> None:
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-m", "ortcache", "abi", "ls", "--json"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["tables"]


def test_the_wheel_needs_numpy_alone_and_names_its_command(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    info = f"ortcache-{ortcache.__version__}.dist-info"
    metadata = archive.read(f"{info}/METADATA").decode()
    required = [
        line.split()[1] for line in metadata.splitlines() if line.startswith("Requires-Dist") and ";" not in line
    ]
    assert [re.match(r"\w+", name)[0] for name in required] == ["numpy"]  # type: ignore[index]
    assert "ortcache = ortcache.cli:main" in archive.read(f"{info}/entry_points.txt").decode()
    assert f"{info}/licenses/LICENSE" in archive.namelist()


def test_the_source_archive_can_test_itself_and_has_no_upstream_headers(tmp_path: Path) -> None:
    with tarfile.open(_build("sdist", tmp_path)) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"gen/emit.py", "headers/tables.toml", "tests/test_packaging.py", "noxfile.py", "README.md"} <= names
    assert not [name for name in names if name.startswith("headers/upstream")]


def test_the_version_is_the_same_everywhere() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    assert newest is not None
    assert ortcache.__version__ == project["version"] == newest[1]
