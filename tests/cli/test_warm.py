"""``ortcache warm`` through callbacks: cold, warm, refused, failed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ortcache.bridge.places import roots
from ortcache.cli import main, progress
from ortcache.cli.sample import mul_model
from ortcache.ep.mul import MAGIC
from ortcache.scope import Scope
from ortcache.stores.url import open_store

from ..support.cli import Result, run
from ..support.ep_models import mul_graph
from ..support.installed import library_file
from ..support.oracles import ROOT, need

_EP = "MulExecutionProvider"
_LAZY = "tests.support.cache_eps:LazyEp"


@pytest.fixture
def model(tmp_path: Path) -> Iterator[str]:
    library_file()
    path = tmp_path / "mul.onnx"
    path.write_bytes(mul_model())
    yield str(path)
    assert {path.name for path in tmp_path.iterdir()} <= {"mul.onnx", "free.onnx", "store", "store.db", "ep"}


def _warm(*args: str, **how: Any) -> Result:
    return run("warm", *args, **how)


def _facts(*args: str, code: int = 0, **how: Any) -> Any:
    """The one model's result."""
    result = _warm(*args, "--json", **how)
    assert result.code == code, result
    (found,) = json.loads(result.out)["models"]
    return found


def _keys(store: str) -> list[str]:
    return sorted(open_store(store).keys())


def test_the_first_process_builds_and_the_next_one_finds_it(model: str, any_store: str) -> None:
    store = any_store
    cold = _facts(model, "--ep", _EP, "--store", store, "--option", "compile_delay_ms=300")
    assert (cold["outcome"], cold["problem"], cold["way"]) == ("built", None, "callbacks")
    (key,) = _keys(store)
    value = open_store(store).get(key)
    assert value is not None and MAGIC in value
    assert cold["stored"] == {key: len(value)} and cold["bytes_stored"] == len(value)
    assert cold["build_seconds"] >= 0.3 and cold["seconds"] >= cold["build_seconds"]
    warm = _facts(model, "--ep", _EP, "--store", store)
    assert (warm["outcome"], warm["stored"], warm["bytes_read"]) == ("hit", {}, len(value))
    assert warm["onnxruntime"].startswith("1.") and warm["backend"] in ("host", "native")


def test_the_text_has_the_same_facts(model: str, tmp_path: Path) -> None:
    for outcome, stored, read in (("built", "152 B", "0 B"), ("hit", "0 B", "152 B")):
        result = _warm(model, "--ep", _EP, ORTCACHE_STORE=str(tmp_path / "store"))
        assert result.code == 0
        said = result.out.splitlines()[1].split()
        assert said[:2] == [model, outcome]
        assert " ".join(said[3:]) == f"{stored} {read}"


def test_it_says_that_it_builds_before_anything_is_built(model: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    command = [sys.executable, "-m", "ortcache", "warm", model, "--ep", _EP, "--store", store]
    command += ["--option", "compile_delay_ms=2000"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None and process.stdout is not None
        lines = [process.stderr.readline(), process.stderr.readline()]
        assert _keys(store) == []
        assert lines[0] == f"mul.onnx: making a session with {_EP}\n"
        assert "is not stored: building, which may take long" in lines[1]
        assert "stored mul-" in process.stderr.read()
        assert "built" in process.stdout.read()
    assert process.returncode == 0 and len(_keys(store)) == 1


def test_a_long_build_says_now_and_then_that_it_goes_on(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "INTERVAL", 0.2)
    delay = ["--option", "compile_delay_ms=1500"]
    assert main(["warm", model, "--ep", _EP, "--store", str(tmp_path / "store"), *delay]) == 0
    lines = capsys.readouterr().err.splitlines()
    going_on = [line for line in lines if "building, which may take long, " in line and line.endswith(" s")]
    assert len(going_on) >= 2


def test_read_only_says_whether_it_is_warm_and_stores_nothing(model: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    args = (model, "--ep", _EP, "--store", store)
    missing = _warm(*args, "--read-only")
    assert missing.code == 2 and "there is no store at" in missing.err
    Path(store).mkdir(mode=0o700)
    cold = _facts(*args, "--read-only", code=1)
    assert cold["outcome"] == "failed" and cold["problem"].startswith("not warm")
    assert _keys(store) == []
    assert _warm(*args).code == 0
    assert _facts(*args, "--read-only")["outcome"] == "hit"


def test_a_scope_keeps_what_was_built_for_something_else_apart(model: str, tmp_path: Path) -> None:
    store = str(tmp_path / "store")
    args = (model, "--ep", _EP, "--store", store, "--scope-extra")
    one = _facts(*args, "stage=one")
    assert (one["outcome"], _facts(*args, "stage=two")["outcome"]) == ("built", "built")
    assert _facts(*args, "stage=one")["outcome"] == "hit"
    assert one["scope"]["parts"]["extra.stage"] == "one" and one["scope"]["parts"]["ep"] == _EP
    assert len(list(Scope(one["scope"]["parts"]).over(open_store(store)).keys())) == 1


def test_of_several_models_each_has_its_own_result(model: str, tmp_path: Path) -> None:
    result = _warm(model, str(tmp_path / "none.onnx"), model, "--ep", _EP, "--store", str(tmp_path / "store"), "--json")
    assert result.code == 1
    built, failed, hit = json.loads(result.out)["models"]
    assert (built["outcome"], failed["outcome"], hit["outcome"]) == ("built", "failed", "hit")
    assert "none.onnx" in failed["problem"] and "Traceback" not in result.err
    assert result.err.splitlines()[-1].startswith(f"ortcache: {tmp_path / 'none.onnx'}: ")


@pytest.mark.parametrize(
    ("ep", "said"),
    [
        ("NoneSuchExecutionProvider", "was not built with 'NoneSuchExecutionProvider'; it has "),
        ("no.such.module:Ep", "no.such.module:Ep cannot be imported"),
        ("tests.support.cache_eps:NoSuchEp", "cannot be imported"),
        ("tests.support.cache_eps:Recorder", "is no subclass of ortcache.ep.Ep"),
        ("tests.support.ep_classes:PlainMul", "PlainMul does not keep its cache through callbacks"),
        ("CPUExecutionProvider", "does not keep its cache through callbacks"),
        (_LAZY, "LazyEp stored nothing. One that builds when a session first runs needs --runs 1"),
    ],
)
def test_a_provider_that_leaves_nothing_in_the_store_is_a_failure(
    model: str, tmp_path: Path, ep: str, said: str
) -> None:
    result = _warm(model, "--ep", ep, "--store", str(tmp_path / "store"))
    assert result.code == 1 and said in result.err.splitlines()[-1], result.err
    assert "Traceback" not in result.err and _keys(str(tmp_path / "store")) == []


def test_a_plugin_file_that_is_none_is_one_line(model: str, tmp_path: Path) -> None:
    result = _warm(model, "--ep", _EP, "--store", str(tmp_path / "store"), "--ep-library", str(tmp_path / "none.so"))
    assert result.code == 1 and "there is no execution provider library" in result.err.splitlines()[-1]


def test_runs_are_fed_where_shapes_are_fixed_and_want_a_shape_elsewhere(model: str, tmp_path: Path) -> None:
    store, free = str(tmp_path / "store"), str(tmp_path / "free.onnx")
    Path(free).write_bytes(mul_graph(1, ["batch", 2], [2], ["batch", 2]))
    assert _facts(model, "--ep", _LAZY, "--store", store, "--runs", "1")["outcome"] == "built"
    assert open_store(store).delete("lazy")
    result = _warm(free, "--ep", _LAZY, "--store", store, "--runs", "1")
    assert result.code == 2 and "a run needs --shape A=…" in result.err
    result = _warm(free, "--ep", _LAZY, "--store", store, "--shape", "A=3,2", "--shape", "Z=1")
    assert result.code == 2 and "no input Z; it has A, B" in result.err
    assert _keys(store) == []
    assert _facts(free, "--ep", _LAZY, "--store", store, "--shape", "A=3,2")["outcome"] == "built"


@pytest.mark.parametrize(
    "args",
    [
        ("--option", "novalue"), ("--option", "=x"), ("--scope-extra", "x"), ("--shape", "A"), ("--shape", "A=-1"),
        ("--shape", "A=x"), ("--runs", "-1"), ("--runs", "0", "--shape", "A=1"), ("--mode", "guess"),
        ("--device", "x"), ("--device", "7"), ("--store", "memory:"), ("--store", "nonesuch://x"),
        ("--mode", "callbacks", "--cache-option", "dir"),
    ],
)  # fmt: skip
def test_wrong_usage_exits_2_and_makes_nothing(model: str, tmp_path: Path, args: tuple[str, ...]) -> None:
    result = _warm(model, "--ep", _EP, "--store", str(tmp_path / "store"), *args)
    assert result.code == 2 and "Traceback" not in result.err, result
    assert not (tmp_path / "store").exists() or _keys(str(tmp_path / "store")) == []


def test_without_a_store_it_says_how_to_name_one(model: str) -> None:
    result = _warm(model, "--ep", _EP)
    assert result.code == 2 and "ORTCACHE_STORE" in result.err


def test_where_every_cache_is_off_there_is_nothing_to_warm(model: str, tmp_path: Path) -> None:
    result = _warm(model, "--ep", _EP, "--store", str(tmp_path / "store"), ORTCACHE_DISABLE="1")
    assert (result.code, result.out) == (1, "") and "ORTCACHE_DISABLE is set" in result.err
    assert not (tmp_path / "store").exists()


def test_a_store_that_does_not_work_is_told_before_a_build(model: str, tmp_path: Path) -> None:
    (tmp_path / "store").mkdir()
    (tmp_path / "store").chmod(0o777)
    result = _warm(model, "--ep", _EP, "--store", str(tmp_path / "store"))
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert "does not work: open: " in result.err


def test_what_is_wrong_with_a_store_is_told_beside_a_secret_in_its_url(model: str) -> None:
    need("redis", find_spec("redis"))
    result = _warm(model, "--ep", _EP, "--store", "redis://127.0.0.1:1/0?password=hunter2")
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "hunter2" not in result.err and "redis has no option" in result.err


def test_what_does_not_fit_into_the_store_is_a_failure(model: str, tmp_path: Path) -> None:
    free = tmp_path / "free.onnx"
    free.write_bytes(mul_graph(1, [2000], [2000], [2000], constant_b=np.ones(2000, np.float32)))
    store = f"file://{tmp_path}/store?max_size=1000"
    failed = _facts(str(free), "--ep", _EP, "--store", store, code=1)
    assert "1 of what MulExecutionProvider made could not be stored; mul-" in failed["problem"]
    assert _keys(str(tmp_path / "store")) == []


_DIES = """
import os
from tests.support.ep_classes import PlainMul

class DiesEp(PlainMul):
    name = "DiesEp"

    def compile(self, graph, node):
        print("last words of", os.getpid(), flush=True)
        os.abort()
"""


def test_a_provider_that_ends_the_process_does_not_end_the_command(model: str, tmp_path: Path) -> None:
    (tmp_path / "ep").mkdir()
    (tmp_path / "ep" / "dies.py").write_text(_DIES)
    args = (model, "--ep", "dies:DiesEp", "--store", str(tmp_path / "store"), "--cache-option", "dir", "--json")
    result = _warm(*args, path=tmp_path / "ep")
    (failed,) = json.loads(result.out)["models"]
    assert result.code == 1 and failed["outcome"] == "failed"
    assert "was ended by SIGABRT" in failed["problem"]
    said = re.search(r"last words of (\d+)", result.err)
    assert said and [path for root in roots() for path in root.glob(f"ortcache-*-{said[1]}-*")] == []


def test_secrets_are_in_no_process_s_arguments_and_in_no_message(model: str, tmp_path: Path) -> None:
    result = _warm(model, "--ep", _EP, ORTCACHE_STORE="redis://me:hunter2@127.0.0.1:1/0?timeout=1")
    assert result.code == 1 and "hunter2" not in result.out + result.err
    assert "does not work" in result.err
    assert os.path.basename(model) not in result.out  # noqa: PTH119
