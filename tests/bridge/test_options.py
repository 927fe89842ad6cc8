"""What each provider is told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import ortcache as oc
from ortcache import bridge
from ortcache.bridge import BridgedDirectory, options_for
from ortcache.bridge.table import TABLE
from ortcache.scope import Scope
from ortcache.stores import MemoryStore

OPENVINO = "OpenVINOExecutionProvider"
TENSORRT = "TensorrtExecutionProvider"


@pytest.fixture
def d(temporary: Path) -> Iterator[BridgedDirectory]:
    with bridge.directory(MemoryStore(), "fake", scope="v1") as directory:
        assert directory.path is not None
        (directory.path / "x").write_bytes(b"x")
        yield directory


def test_every_known_provider_gets_its_own_options(d: BridgedDirectory) -> None:
    path = str(d.path)
    expected = {
        OPENVINO: {"load_config": json.dumps({"CPU": {"CACHE_DIR": path}})},
        TENSORRT: {
            "trt_engine_cache_enable": "1",
            "trt_engine_cache_path": path,
            "trt_timing_cache_enable": "1",
            "trt_timing_cache_path": path,
        },
        "NvTensorRTRTXExecutionProvider": {"nv_runtime_cache_path": path},
        "MIGraphXExecutionProvider": {"migraphx_model_cache_dir": path},
        "CoreMLExecutionProvider": {"ModelCacheDirectory": path},
        "VitisAIExecutionProvider": {"cache_dir": path, "cache_key": "model", "enable_cache_file_io_in_mem": "0"},
    }
    assert {ep: options_for(ep, d) for ep in TABLE} == expected
    assert d.ep == "VitisAIExecutionProvider"


def test_openvino_in_both_forms(d: BridgedDirectory) -> None:
    path = str(d.path)
    config = json.dumps({"CPU": {"CACHE_DIR": path}})
    assert options_for(OPENVINO, d, form="bundled") == {"cache_dir": path}
    assert options_for(OPENVINO, d, form="plugin") == {"load_config": config}
    # What comes with ONNX Runtime takes the plugin's option from 1.23 on.
    assert options_for(OPENVINO, d, version="1.22.1") == {"cache_dir": path}
    assert options_for(OPENVINO, d, version="1.23.0") == {"load_config": config}
    for device, more in (
        ("GPU", {"device": "GPU"}),
        ("NPU", {"device_type": "NPU"}),
        ("AUTO", {"device_type": "AUTO:GPU"}),
    ):
        found = options_for(OPENVINO, d, **more)  # type: ignore[arg-type]
        assert json.loads(found["load_config"]) == {device: {"CACHE_DIR": path}}


def test_the_users_configuration_is_kept(d: BridgedDirectory) -> None:
    given = {"CPU": {"NUM_STREAMS": "2"}, "GPU": {"X": "1"}}
    expected = {"CPU": {"NUM_STREAMS": "2", "CACHE_DIR": str(d.path)}, "GPU": {"X": "1"}}
    for config in (given, json.dumps(given)):
        assert json.loads(options_for(OPENVINO, d, load_config=config)["load_config"]) == expected
    assert given == {"CPU": {"NUM_STREAMS": "2"}, "GPU": {"X": "1"}}


@pytest.mark.parametrize("config", ["a file.json", "[1]", '{"CPU": 3}', 7, {"CPU": {"CACHE_DIR": "/mine"}}])
def test_a_configuration_that_cannot_be_added_to_is_refused(d: BridgedDirectory, config: object) -> None:
    with pytest.raises(oc.InputError, match=r"load_config|CACHE_DIR"):
        options_for(OPENVINO, d, load_config=config)


def test_other_options_are_passed_on_as_text(d: BridgedDirectory) -> None:
    found = options_for(TENSORRT, d, device_id=1, trt_fp16_enable=True, trt_int8_enable=None)
    assert found["device_id"] == "1" and found["trt_fp16_enable"] == "True" and "trt_int8_enable" not in found
    assert options_for(TENSORRT, d, trt_timing_cache_enable="0")["trt_timing_cache_enable"] == "0"


@pytest.mark.parametrize(
    ("ep", "option"),
    [(TENSORRT, "trt_engine_cache_path"), (TENSORRT, "trt_timing_cache_path"),
     ("CoreMLExecutionProvider", "ModelCacheDirectory"), ("VitisAIExecutionProvider", "cache_dir")],
)  # fmt: skip
def test_a_directory_that_the_user_sets_too_is_refused(d: BridgedDirectory, ep: str, option: str) -> None:
    with pytest.raises(oc.InputError, match=f"'{option}' of {ep} is the directory's path"):
        options_for(ep, d, **{option: "/mine"})


def test_options_that_a_version_does_not_know_are_left_out(d: BridgedDirectory) -> None:
    path = str(d.path)
    engines = {"trt_engine_cache_enable": "1", "trt_engine_cache_path": path}
    assert options_for(TENSORRT, d, version="1.14.0", name="net") == engines
    assert options_for(TENSORRT, d, version="1.16.3") == {**engines, "trt_timing_cache_enable": "1"}
    assert options_for(TENSORRT, d, version="1.17.0", name="net")["trt_engine_cache_prefix"] == "net"


@pytest.mark.parametrize(
    ("ep", "version"),
    [("MIGraphXExecutionProvider", "1.22.2"), ("CoreMLExecutionProvider", "1.20.0"),
     ("NvTensorRTRTXExecutionProvider", "1.22.0")],
)  # fmt: skip
def test_a_version_that_knows_no_directory_is_refused(temporary: Path, ep: str, version: str) -> None:
    scope = Scope({"model": "m", "ort_version": version})
    with pytest.warns(RuntimeWarning, match="left no file"), bridge.directory(MemoryStore(), "x", scope=scope) as d:
        with pytest.raises(oc.InputError, match=f"{ep} of ONNX Runtime {version} does not know"):
            options_for(ep, d)
        assert options_for(ep, d, version="1.30.0")
        assert options_for(ep, d, option="other_option") == {"other_option": str(d.path)}
        with pytest.raises(oc.InputError, match="no version"):
            options_for(ep, d, version="new")


def test_an_unknown_provider_is_refused_unless_its_option_is_named(d: BridgedDirectory) -> None:
    with pytest.raises(oc.InputError, match="how MyExecutionProvider is told a cache directory is not known here"):
        options_for("MyExecutionProvider", d)
    found = options_for("MyExecutionProvider", d, option="cache_path", speed=3)
    assert found == {"cache_path": str(d.path), "speed": "3"}
    with pytest.raises(oc.InputError, match="leave it out"):
        options_for("MyExecutionProvider", d, option="cache_path", cache_path="/mine")
    with pytest.raises(oc.InputError, match="has no form 'other'"):
        options_for(OPENVINO, d, form="other")


def test_a_path_that_a_provider_cannot_take_on_windows_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ortcache.bridge.options._WINDOWS", True)
    root = tmp_path / "缓存"
    root.mkdir()
    with bridge.directory(MemoryStore(), "fake", scope="v1", root=root) as d:
        assert d.path is not None
        (d.path / "x").write_bytes(b"x")
        with pytest.warns(RuntimeWarning, match="outside of ASCII"):
            options_for(TENSORRT, d)
        options_for("MIGraphXExecutionProvider", d)


@pytest.mark.parametrize("form", [None, "plugin", "bundled"])
def test_the_directory_of_either_form_is_not_the_users_to_set(d: BridgedDirectory, form: str | None) -> None:
    with pytest.raises(oc.InputError, match=r"'cache_dir' of OpenVINO.* leave it out"):
        options_for(OPENVINO, d, form=form, cache_dir="/elsewhere")


def test_a_closed_directory_is_for_nobody(temporary: Path) -> None:
    with bridge.directory(MemoryStore(), "fake", scope="v1", mode="w") as d:
        assert d.path is not None
        (d.path / "x").write_bytes(b"x")
    for use in (lambda: options_for(OPENVINO, d), lambda: d.session(lambda _: None), d.__enter__):
        with pytest.raises(oc.ClosedError, match="was closed"):
            use()
    d.close()
    assert not d.save()


def test_a_path_is_no_directory_of_the_bridge() -> None:
    with pytest.raises(TypeError, match=r"bridge\.directory gives, not for str"):
        options_for(OPENVINO, "/var/cache")  # type: ignore[arg-type]
