"""The config entries of session options: free text, and those that stand for settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.runtime import load
from ortcache.api.scalars import ENTRY_SETTINGS

from ..support.process import run_python


def test_entries_are_read_from_c(rt: oc.Runtime) -> None:
    options = rt.session_options(config={"my.key": "ünï 模", "flag": True, "off": False, "number": 7, "half": 0.5})
    rt.api.AddSessionConfigEntry(options, b"raw", b"from C")
    options.config["empty"] = ""
    expected = {"my.key": "ünï 模", "flag": "1", "off": "0", "number": "7", "half": "0.5", "raw": "from C", "empty": ""}
    assert dict(options.config) == expected
    assert len(options.config) == 7 and "raw" in options.config and repr(options.config) == repr(dict(options.config))
    assert options.config.get("none") is None
    with pytest.raises(KeyError, match="none"):
        options.config["none"]


def test_a_long_value_comes_back_whole(rt: oc.Runtime) -> None:
    options = rt.session_options(config={"k" * 1024: "v" * 2048})
    assert options.config["k" * 1024] == "v" * 2048


def test_an_entry_is_replaced_but_not_removed(rt: oc.Runtime) -> None:
    options = rt.session_options(config={"a": "1"})
    options.config["a"] = "2"
    assert options.config["a"] == "2"
    with pytest.raises(TypeError, match=r"'a' cannot be removed: .*make new options"):
        del options.config["a"]


def test_replacing_an_entry_before_anything_else_was_made_does_not_end_the_process() -> None:
    code = """
        import logging, ortcache
        logging.disable()  # ORT says that it is replaced; without an environment to say it in, it would abort
        options = ortcache.load().session_options()
        options.config["a"] = "1"
        options.config["a"] = "2"
        run = ortcache.load().run_options(config={"a": "1"})
        run.config["a"] = "2"
        print(options.config, run.config)
    """
    assert run_python(code).strip() == "{'a': '2'} {'a': '2'}"


def test_where_c_lists_no_entries_those_set_here_are_listed(rt: oc.Runtime) -> None:
    options = load(rt.library, api_version=20).session_options(config={"a": 1, "b": 2})
    assert dict(options.clone().config) == {"a": "1", "b": "2"}


@pytest.mark.parametrize(
    ("key", "value", "error", "said"),
    [
        ("", "x", oc.InputError, "config key is empty; raw.kOrtSessionOptions"),
        ("a\0b", "x", oc.InputError, "config key .*NUL"),
        ("a", "x\0", oc.InputError, "the value of config entry 'a' .*NUL"),
        ("\ud800", "x", oc.InputError, "UTF-8"),
        (5, "x", TypeError, "config key must be a str"),
        ("a", None, TypeError, "the value of config entry 'a' must be a str, not NoneType"),
        ("a", ["x"], TypeError, "must be a str, not list"),
        ("k" * 1025, "x", oc.OrtError, "longer than maximum length 1024"),
        ("a", "x" * 200_000, oc.OrtError, "value is longer than maximum length"),
    ],
)
def test_an_entry_that_cannot_be_says_why(rt: oc.Runtime, key: Any, value: Any, error: Any, said: str) -> None:
    options = rt.session_options()
    with pytest.raises(error, match=said):
        options.add_config_entry(key, value)
    assert dict(options.config) == {}


@pytest.mark.parametrize(
    ("key", "value", "setting", "read"),
    [
        (raw.kOrtSessionOptionsConfigIntraOpNumThreads, 3, "intra_op_num_threads", 3),
        (raw.kOrtSessionOptionsConfigInterOpNumThreads, "2", "inter_op_num_threads", 2),
        (raw.kOrtSessionOptionsConfigExecutionMode, "parallel", "execution_mode", 1),
        (raw.kOrtSessionOptionsConfigExecutionMode, "ort_parallel", "execution_mode", 1),
        (raw.kOrtSessionOptionsConfigGraphOptimizationLevel, "enable_basic", "graph_optimization_level", 1),
        (raw.kOrtSessionOptionsConfigEnableMemPattern, False, "enable_mem_pattern", False),
        (raw.kOrtSessionOptionsConfigEnableCpuMemArena, "0", "enable_cpu_mem_arena", False),
        (raw.kOrtSessionOptionsConfigLogId, "ü", "logid", "ü"),
        (raw.kOrtSessionOptionsConfigLogSeverityLevel, 3, "log_severity_level", 3),
        (raw.kOrtSessionOptionsConfigLogVerbosityLevel, 1, "log_verbosity_level", 1),
        (raw.kOrtSessionOptionsConfigEnableProfiling, "pre", "enable_profiling", True),
        (raw.kOrtSessionOptionsConfigEnableProfiling, "pre", "profile_file_prefix", "pre"),
        (raw.kOrtSessionOptionsConfigEnableProfiling, "", "enable_profiling", False),
        (raw.kOrtSessionOptionsConfigOptimizedModelFilePath, "x.onnx", "optimized_model_filepath", "x.onnx"),
        (raw.kOrtSessionOptionsConfigUseDeterministicCompute, 1, "use_deterministic_compute", True),
        (raw.kOrtSessionOptionsConfigUsePerSessionThreads, 0, "use_per_session_threads", False),
    ],
)
def test_an_entry_that_names_a_setting_sets_it(rt: oc.Runtime, key: str, value: Any, setting: str, read: Any) -> None:
    options = rt.session_options(config={key: value})
    assert getattr(options, setting) == read
    assert dict(options.config) == {}


@pytest.mark.parametrize(
    "key", [key for key, (name, _) in ENTRY_SETTINGS.items() if "log" not in name and "path" not in name]
)
def test_an_entry_that_is_none_for_its_setting_is_refused(rt: oc.Runtime, key: str) -> None:
    with pytest.raises(oc.InputError, match=f"config entry '{key}': "):
        rt.session_options(config={key: "nonsense"})


def test_an_entry_reaches_the_session(rt: oc.Runtime, mul_model: Path) -> None:
    with pytest.raises(oc.OrtError):
        rt.session(mul_model, config={raw.kOrtSessionOptionsConfigLoadModelFormat: "ORT"})
