"""``ortcache demo``: a real inference, and an honest word about its result."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import pytest

from ortcache import raw
from ortcache.cli import main, sample

from ..support.cli import run, shadow
from ..support.installed import library_file


def test_demo_says_what_ran_on_what_and_that_it_is_right() -> None:
    path = library_file()
    result = run("demo")
    assert (result.code, result.err) == (0, "")
    for said in (str(path), "mul_1.onnx of the onnxruntime package", "equal to the expected one", "API version"):
        assert said in result.out


def test_demo_as_json_holds_versions_and_numbers() -> None:
    path = library_file()
    document = json.loads(run("demo", "--json").out)
    assert document["library"] == str(path)
    assert document["api_version"] == min(document["library_api_version"], raw.GENERATED_API_VERSION)
    assert document["version"].split(".")[1] == str(document["library_api_version"])
    assert document["equal"] is True
    assert document["output"] == document["expected"] == [[1, 4], [9, 16], [25, 36]]


def test_a_library_without_models_beside_it_runs_our_own(tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    lone = tmp_path / "lib" / library_file().name
    lone.symlink_to(library_file())
    for needed in library_file().parent.glob("libonnxruntime_providers_shared.*"):  # to register plugins, in 1.23
        (tmp_path / "lib" / needed.name).symlink_to(needed)
    for chosen in (lone, tmp_path):
        result = run("demo", "--library", str(chosen))
        assert result.code == 0, result.err
        assert "made by ortcache" in result.out and "equal to the expected one" in result.out


def test_our_own_model_is_valid_onnx() -> None:
    model = onnx.load_from_string(sample.mul_model())
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == ["Mul"]
    weights = onnx.numpy_helper.to_array(model.graph.initializer[0])
    assert weights.dtype == np.float32 and weights.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_wrong_result_is_a_finding(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    library_file()
    monkeypatch.setattr(sample, "_EXPECTED", ((1.0, 4.0), (9.0, 16.0), (25.0, 36.5)))
    assert main(["demo"]) == 1
    assert "NOT equal to the expected one" in capsys.readouterr().out


def test_a_broken_numpy_is_one_line_that_says_what_to_do(tmp_path: Path) -> None:
    result = run("demo", path=shadow(tmp_path, "numpy", "raise ImportError('built for another Python\\nand more')"))
    assert (result.code, result.out) == (1, "")
    assert result.err == (
        "ortcache: numpy cannot be imported (built for another Python): `pip install --force-reinstall numpy`\n"
    )


def test_no_library_at_all_names_every_place_that_was_tried(tmp_path: Path) -> None:
    result = run("demo", path=shadow(tmp_path, "onnxruntime"))
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    for said in ("pip install onnxruntime", "ORTCACHE_LIBRARY", str(tmp_path)):
        assert said in result.err
