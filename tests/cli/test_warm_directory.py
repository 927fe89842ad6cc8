"""``ortcache warm`` for providers that know only a directory: a made-up one, and OpenVINO in both its forms."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from ortcache.cli.sample import mul_model
from ortcache.scope import Scope
from ortcache.stores.url import open_store

from ..support.cli import run
from ..support.installed import library_file, ocr_model
from ..support.oracles import ROOT, need

_EP = """
import json, subprocess, sys
from pathlib import Path
from tests.support.ep_classes import PlainMul

class FolderEp(PlainMul):
    name = "FolderEp"

    def compile(self, graph, node):
        options = self.context.options
        plan = Path(options["folder"]) / "plan"
        if options.get("what") == "anew" or (options.get("what") != "nothing" and not plan.exists()):
            plan.write_bytes(b"x" * 1000)
        elif plan.exists():
            plan.read_bytes()
        if "told" in options:
            Path(options["told"]).write_text(json.dumps(dict(options)))
        if "child" in options:
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100)"])
            Path(options["child"]).write_text(str(child.pid))
        return super().compile(graph, node)
"""


def _warm(tmp_path: Path, *args: str, code: int = 0) -> Any:
    """The result of the made-up provider over ``store``."""
    library_file()
    (tmp_path / "mul.onnx").write_bytes(mul_model())
    (tmp_path / "folder_ep.py").write_text(_EP)
    store = ("--store", str(tmp_path / "store"))
    ep = ("--ep", "folder_ep:FolderEp", "--cache-option", "folder")
    result = run("warm", str(tmp_path / "mul.onnx"), *ep, *store, *args, "--json", path=tmp_path)
    assert result.code == code, result
    (found,) = json.loads(result.out)["models"]
    return found | {"said": result.err}


def test_the_first_process_builds_and_the_next_one_restores(tmp_path: Path) -> None:
    cold = _warm(tmp_path)
    assert (cold["outcome"], cold["way"], cold["entry"]) == ("built", "directory", "folderep")
    assert cold["bytes_stored"] > 1000 and cold["stats"]["saved_files"] == 1
    lines = cold["said"].splitlines()
    building = next(at for at, line in enumerate(lines) if "building, which may take long" in line)
    assert building < next(at for at, line in enumerate(lines) if "saved 1 files" in line)
    warm = _warm(tmp_path)
    assert (warm["outcome"], warm["bytes_read"], warm["bytes_stored"]) == ("hit", 1000, 0)
    assert warm["scope"] == cold["scope"]


def test_an_application_finds_it_under_the_scope_that_is_told(tmp_path: Path) -> None:
    scope = Scope(_warm(tmp_path, "--option", "level=3", "--scope-extra", "team=vision")["scope"]["parts"])
    assert scope.parts["options.level"] == '"3"'  # text, and no number
    assert scope.parts["extra.team"] == "vision" and scope.parts["ep"] == "FolderEp"
    assert list(scope.over(open_store(tmp_path / "store")).keys()) == ["directory.folderep"]


def test_another_model_or_option_is_a_miss_and_the_part_that_differs_is_named(tmp_path: Path) -> None:
    _warm(tmp_path)
    other = _warm(tmp_path, "--option", "level=3")
    assert other["outcome"] == "built" and "options.level" in other["said"]


def test_every_option_is_the_providers_whatever_its_name(tmp_path: Path) -> None:
    names = ("name", "device", "form", "version", "option", "ep", "directory")
    args = [arg for name in names for arg in ("--option", f"{name}=mine")]
    found = _warm(tmp_path, *args, "--option", f"told={tmp_path / 'told'}")
    assert found["outcome"] == "built"
    told = json.loads((tmp_path / "told").read_text())
    assert {name: told[name] for name in names} == dict.fromkeys(names, "mine")


def test_read_only_says_whether_it_is_warm(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    assert _warm(tmp_path, "--read-only", code=1)["problem"].startswith("not warm")
    assert list(open_store(tmp_path / "store").keys()) == []
    _warm(tmp_path)
    assert _warm(tmp_path, "--read-only")["outcome"] == "hit"


@pytest.mark.parametrize(("what", "said"), [("nothing", "wrote nothing into its directory"), ("anew", "did not use")])
def test_a_provider_that_makes_no_use_of_its_directory_is_a_failure(tmp_path: Path, what: str, said: str) -> None:
    if what == "anew":
        assert _warm(tmp_path, "--option", "what=anew")["outcome"] == "built"
    failed = _warm(tmp_path, "--option", f"what={what}", code=1)
    assert failed["outcome"] == "failed" and said in failed["problem"]


def test_a_process_that_the_provider_leaves_behind_is_not_waited_for(tmp_path: Path) -> None:
    need("linux", sys.platform.startswith("linux"))
    assert _warm(tmp_path, "--option", f"child={tmp_path / 'child'}")["outcome"] == "built"
    child = (tmp_path / "child").read_text()
    assert Path(f"/proc/{child}/cmdline").read_bytes()  # it is still there
    os.kill(int(child), signal.SIGKILL)


def test_a_provider_whose_option_is_not_known_is_refused(tmp_path: Path) -> None:
    library_file()
    (tmp_path / "mul.onnx").write_bytes(mul_model())
    args = ("--ep", "MulExecutionProvider", "--mode", "directory", "--store", str(tmp_path / "store"))
    result = run("warm", str(tmp_path / "mul.onnx"), *args)
    assert result.code == 1 and "how MulExecutionProvider is told a cache directory is not known" in result.err


def _openvino(python: str, tmp_path: Path, *args: str, path: str = "") -> tuple[int, Any]:
    command = [python, "-m", "ortcache", "warm", str(ocr_model()), "--ep", "OpenVINOExecutionProvider", "--json"]
    done = subprocess.run(
        [*command, "--store", str(tmp_path / "store"), "--option", "device_type=CPU", *args],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [path, str(ROOT)]))},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    (found,) = json.loads(done.stdout)["models"]
    return done.returncode, found


def test_the_openvino_provider_that_comes_with_onnxruntime(tmp_path: Path) -> None:
    python = os.environ.get("ORTCACHE_TEST_OPENVINO", "")
    need("openvino-bundled", python)
    code, cold = _openvino(python, tmp_path)
    assert (code, cold["outcome"], cold["way"], cold["entry"]) == (0, "built", "directory", "openvino")
    assert cold["bytes_stored"] > 1_000_000
    code, warm = _openvino(python, tmp_path)
    assert warm["bytes_read"] > 1_000_000
    # On some CPUs this release builds anew whatever its directory holds; then the command must not call it warm.
    assert (code, warm["outcome"]) == ((1, "failed") if warm["stats"]["rewritten_files"] else (0, "hit"))


def test_the_openvino_plugin(tmp_path: Path) -> None:
    spec = find_spec("onnxruntime_ep_openvino")
    need("openvino", spec)
    (tmp_path / "sitecustomize.py").write_text("from tests.support.intel_cpu import pretend\npretend()\n")
    find = "import onnxruntime_ep_openvino as ep; print(ep.get_library_path())"
    library = subprocess.run([sys.executable, "-c", find], capture_output=True, text=True, check=True).stdout.strip()
    ways = [("--ep-library", library, "--device", "0"), ()]  # the second time, the package is found by its name
    results = [_openvino(sys.executable, tmp_path, *args, path=str(tmp_path)) for args in ways]
    assert [(code, found["outcome"]) for code, found in results] == [(0, "built"), (0, "hit")]
