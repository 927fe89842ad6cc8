"""The README's three walk-throughs, run as they are written: each cold and then warm, in processes of their own."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .support.installed import dataset, ocr_model
from .support.mounts import need_mounts
from .support.oracles import ROOT, need
from .support.readme import blocks, program, programs

#: At the start of each Python here: OpenVINO's plugin offers a device on no CPU but Intel's.
_INTEL = f"import sys; sys.path.append({str(ROOT)!r}); from tests.support.intel_cpu import pretend; pretend()"

#: Remounts every file system so that nothing can be written to it, but for devices and the like; and tries to.
_READ_ONLY = """
for at in $(awk '{print $2}' /proc/mounts | grep -v '^/proc\\|^/sys\\|^/dev'); do mount -o remount,bind,ro "$at"; done
if touch x "${TMPDIR:-/tmp}/x" ~/x 2>/dev/null; then exit 3; fi
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """An empty folder."""
    need("linux", sys.platform == "linux")
    folder = tmp_path / "place"
    folder.mkdir()
    return folder


@pytest.fixture
def openvino(place: Path, tmp_path: Path) -> dict[str, str]:
    """What a process needs for OpenVINO, on any CPU; the folder gets a real model."""
    need("openvino", importlib.util.find_spec("onnxruntime_ep_openvino"))
    shutil.copy(ocr_model(), place / "model.onnx")
    (tmp_path / "start").mkdir()
    (tmp_path / "start" / "sitecustomize.py").write_text(_INTEL, "utf-8")
    return {"PYTHONPATH": str(tmp_path / "start")}


def run(place: Path, *command: str, **variables: str) -> str:
    """Run a command there as a user with this Python's programs on the path would."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, **variables}
    done = subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def shell(start: str) -> str:
    """The block of commands that starts so."""
    (found,) = [block for block in blocks("sh") if block.startswith(start)]
    return found


def write(place: Path, name: str) -> None:
    (place / name).write_text(program(name), "utf-8")


def test_there_are_three() -> None:
    assert sorted(programs()) == ["official.py", "sandbox.py", "server.py"]


def test_with_the_official_module(place: Path, openvino: dict[str, str]) -> None:
    write(place, "official.py")
    before = sorted(path.name for path in place.iterdir())
    assert run(place, sys.executable, "official.py", **openvino) == "cold\n"
    assert run(place, sys.executable, "official.py", **openvino) == "warm\n"
    assert sorted(path.name for path in place.iterdir()) == sorted([*before, "ep-cache.db"])


def test_a_fleet_over_s3(place: Path, openvino: dict[str, str], s3: str) -> None:
    from .support.servers import make_bucket

    make_bucket(s3, "models")
    aws = {
        "AWS_ENDPOINT_URL": s3, "AWS_ALLOW_HTTP": "true", "AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test",
    }  # fmt: skip
    write(place, "server.py")
    commands = shell("export ORTCACHE_STORE='s3://models")
    (place / "server.sh").write_text(f"{commands.splitlines()[0]}\npython server.py\n", "utf-8")
    assert run(place, "bash", "server.sh", **openvino, **aws) == "cold\n"
    (place / "disk-cache.db").unlink()
    assert "built" in run(place, "bash", "-e", "-c", commands, **openvino, **aws)
    assert run(place, "bash", "server.sh", **openvino, **aws) == "warm\n"
    down = {**aws, "AWS_ENDPOINT_URL": "http://127.0.0.1:9"}  # nobody answers there
    assert run(place, "bash", "server.sh", **openvino, **down) == "warm\n"
    (place / "disk-cache.db").unlink()
    assert run(place, "bash", "server.sh", **openvino, **down) == "cold\n"


def test_a_sandbox_without_a_disk(place: Path) -> None:
    shutil.copy(dataset("mul_1.onnx"), place)
    write(place, "sandbox.py")
    run(place, "bash", "-e", "-c", shell("ortcache warm mul_1.onnx"))
    assert run(place, sys.executable, "sandbox.py") == "warm\n"
    need_mounts(place)
    assert run(place, "unshare", "-m", "bash", "-c", f"{_READ_ONLY}exec {sys.executable} sandbox.py") == "warm\n"
