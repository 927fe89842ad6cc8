"""Session options: the settings, what each does in C, and what wrong ones say."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import ortcache as oc
from ortcache import raw

from ..support.models import add_model, chain_model
from ..support.process import run_python

_SETTINGS = {
    "enable_cpu_mem_arena": True,
    "enable_mem_pattern": True,
    "enable_profiling": False,
    "execution_mode": 0,
    "graph_optimization_level": 99,
    "inter_op_num_threads": 0,
    "intra_op_num_threads": 0,
    "log_severity_level": -1,
    "log_verbosity_level": 0,
    "logid": "",
    "optimized_model_filepath": "",
    "profile_file_prefix": "onnxruntime_profile_",
    "use_deterministic_compute": False,
    "use_per_session_threads": True,
}


def test_the_settings_and_their_defaults_are_the_official_modules(rt: oc.Runtime) -> None:
    code = """
        import json, onnxruntime
        options = onnxruntime.SessionOptions()
        names = [name for name in dir(options) if name[0] != "_" and not callable(getattr(options, name))]
        values = {name: getattr(options, name) for name in names}
        plain = lambda value: value if isinstance(value, (bool, str)) else int(value)
        print(json.dumps({name: plain(value) for name, value in values.items()}))
    """
    official = json.loads(run_python(code, quiet=False))
    for name in ("enable_mem_reuse", "execution_order"):  # the C API has no function for these two
        official.pop(name, None)
    options = rt.session_options()
    assert {name: getattr(options, name) for name in _SETTINGS} == official == _SETTINGS


@pytest.mark.parametrize(
    ("name", "value", "read"),
    [
        ("intra_op_num_threads", np.int64(3), 3),
        ("inter_op_num_threads", 2, 2),
        ("execution_mode", "parallel", raw.ExecutionMode.ORT_PARALLEL),
        ("execution_mode", "ORT_PARALLEL", raw.ExecutionMode.ORT_PARALLEL),
        ("execution_mode", 1, raw.ExecutionMode.ORT_PARALLEL),
        ("graph_optimization_level", "all", raw.GraphOptimizationLevel.ORT_ENABLE_ALL),
        ("graph_optimization_level", "Basic", raw.GraphOptimizationLevel.ORT_ENABLE_BASIC),
        ("graph_optimization_level", "enable_extended", raw.GraphOptimizationLevel.ORT_ENABLE_EXTENDED),
        ("graph_optimization_level", 0, raw.GraphOptimizationLevel.ORT_DISABLE_ALL),
        ("graph_optimization_level", raw.GraphOptimizationLevel.ORT_ENABLE_LAYOUT, 3),
        ("enable_mem_pattern", False, False),
        ("enable_cpu_mem_arena", 0, False),
        ("use_deterministic_compute", True, True),
        ("log_severity_level", "fatal", 4),
        ("log_severity_level", 0, 0),
        ("log_severity_level", -1, -1),
        ("log_verbosity_level", 7, 7),
        ("logid", "sitzung ü", "sitzung ü"),
        ("optimized_model_filepath", Path("a b/ü.onnx"), "a b/ü.onnx"),
        ("optimized_model_filepath", None, ""),
        ("profile_file_prefix", Path("pröfile"), "pröfile"),
    ],
)
def test_a_setting_is_read_back_and_copied(rt: oc.Runtime, name: str, value: Any, read: Any) -> None:
    options = rt.session_options(**{name: value})
    assert getattr(options, name) == read
    clone = options.clone()
    assert getattr(clone, name) == read
    fresh = rt.session_options()
    setattr(fresh, name, value)
    assert getattr(fresh, name) == read


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"intra_op_threads": 1}, TypeError, r"no setting 'intra_op_threads'; did you mean intra_op_num_threads\?"),
        ({"zzz": 1}, TypeError, "no setting 'zzz'; it has enable_cpu_mem_arena, "),
        ({"native": 1}, TypeError, "no setting 'native'"),
        ({"config": 1, "closed": True}, TypeError, "no setting 'closed'"),
        ({"intra_op_num_threads": -1}, oc.InputError, "intra_op_num_threads must be from 0 to"),
        ({"intra_op_num_threads": 2**32}, oc.InputError, "must be from 0 to 2147483647, not 4294967296"),
        ({"intra_op_num_threads": 1.5}, TypeError, "must be a whole number, not 1.5"),
        ({"intra_op_num_threads": "4"}, TypeError, "must be a whole number, not '4'"),
        ({"intra_op_num_threads": True}, TypeError, "must be a whole number, not True"),
        ({"execution_mode": "quick"}, oc.InputError, "'quick' is not one of .*parallel"),
        ({"execution_mode": 7}, oc.InputError, r"7 is not one of 0 \(ORT_SEQUENTIAL\), 1 \(ORT_PARALLEL\)"),
        ({"execution_mode": raw.OrtLoggingLevel.ORT_LOGGING_LEVEL_INFO}, TypeError, "must be a ExecutionMode"),
        ({"execution_mode": None}, TypeError, "its number or name"),
        ({"graph_optimization_level": 4}, oc.InputError, "99 .ORT_ENABLE_ALL."),
        ({"graph_optimization_level": True}, TypeError, "must be a GraphOptimizationLevel"),
        ({"enable_mem_pattern": "false"}, TypeError, "must be True or False, not 'false'"),
        ({"enable_mem_pattern": 2}, TypeError, "must be True or False"),
        ({"log_severity_level": "loud"}, ValueError, "not one of verbose, info, warning, error, fatal"),
        ({"log_severity_level": 5}, ValueError, "0 .verbose. to 4 .fatal."),
        ({"log_severity_level": None}, TypeError, "a level's number or name"),
        ({"logid": 5}, TypeError, "logid must be a str"),
        ({"logid": "a\0"}, oc.InputError, "NUL"),
        ({"optimized_model_filepath": 5}, TypeError, "must be a path"),
        ({"optimized_model_filepath": "a\0"}, oc.InputError, "NUL"),
        ({"profile_file_prefix": ""}, oc.InputError, "profile_file_prefix is empty"),
    ],
)
def test_a_wrong_setting_says_what_is_wrong(rt: oc.Runtime, settings: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        rt.session_options(**settings)


def test_a_misspelt_attribute_is_not_taken_in_silence(rt: oc.Runtime) -> None:
    options = rt.session_options()
    with pytest.raises(AttributeError, match=r"have no setting 'log_severity'; did you mean log_severity_level\?"):
        options.log_severity = 0
    with pytest.raises(AttributeError):
        options.config = {}  # type: ignore[misc]


def test_c_sees_what_was_set_and_python_sees_what_c_has(rt: oc.Runtime) -> None:
    options = rt.session_options(execution_mode="parallel", enable_mem_pattern=False)
    rt.api.SetSessionExecutionMode(options, 0)
    rt.api.EnableMemPattern(options)
    readable = rt.api.raw.holds("GetSessionExecutionMode")
    assert options.execution_mode == (0 if readable else 1)
    assert options.enable_mem_pattern is readable


def test_the_number_of_threads_is_what_was_set(mul_model: Path) -> None:
    code = """
        import os, sys, ortcache
        rt = ortcache.load()
        rt.env
        threads = lambda: len(os.listdir("/proc/self/task"))
        base, counts = threads(), []
        for count in (1, 2, 5):
            with rt.session(sys.argv[1], intra_op_num_threads=count):
                counts.append(threads() - base)
        print(counts)
    """
    assert run_python(code, mul_model).strip() == "[0, 1, 4]"


@pytest.mark.parametrize(("level", "nodes"), [("disable_all", 4), ("all", 0)])
def test_the_optimized_model_is_saved_as_far_as_it_was_optimized(
    rt: oc.Runtime, level: str, nodes: int, tmp_path: Path
) -> None:
    path = tmp_path / "öptimiert 模.onnx"
    rt.session(chain_model(), optimized_model_filepath=path, graph_optimization_level=level).close()
    saved = [node for node in onnx.load(path).graph.node if node.op_type == "Identity"]
    assert len(saved) <= nodes + 1 and len(saved) >= nodes


@pytest.mark.parametrize("prefix_first", [True, False])
def test_a_profile_goes_where_the_prefix_says(
    rt: oc.Runtime, mul_model: Path, x: Any, tmp_path: Path, prefix_first: bool
) -> None:
    options, prefix = rt.session_options(), tmp_path / "pröfile"
    if prefix_first:
        options.profile_file_prefix = prefix  # type: ignore[assignment]
        options.enable_profiling = True
    else:
        options.enable_profiling = True
        options.profile_file_prefix = prefix  # type: ignore[assignment]
    with rt.session(mul_model, options) as session:
        session.run({"X": x})
        file = Path(session.end_profiling())
    assert file.parent == tmp_path and file.name.startswith("pröfile")
    assert json.loads(file.read_text("utf-8"))


def test_profiling_can_be_turned_off_again(rt: oc.Runtime, mul_model: Path, tmp_path: Path) -> None:
    options = rt.session_options(profile_file_prefix=tmp_path / "p", enable_profiling=True)
    options.enable_profiling = False
    rt.session(mul_model, options).close()
    assert list(tmp_path.iterdir()) == []


def test_a_session_has_a_log_level_and_name_of_its_own(rt: oc.Runtime, mul_model: Path, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG, "onnxruntime"):
        rt.session(mul_model, logid="leise").close()
        assert not [record for record in caplog.records if record.ort_logid == "leise"]
        rt.session(mul_model, logid="laut ü", log_severity_level="verbose").close()
        levels = {record.levelno for record in caplog.records if record.ort_logid == "laut ü"}
    assert {logging.DEBUG, logging.INFO} <= levels


def test_threads_of_the_environment_need_an_environment_that_has_them(rt: oc.Runtime, mul_model: Path) -> None:
    options = rt.session_options(use_per_session_threads=False)
    with pytest.raises(oc.OrtError, match="GlobalThreadPools"):
        rt.session(mul_model, options)
    with pytest.raises(oc.InputError, match=r"cannot be turned on again: .* make new options"):
        options.use_per_session_threads = True
    rt.session_options(use_per_session_threads=True).clone().use_per_session_threads = True


def test_a_clone_and_its_original_go_their_own_ways(rt: oc.Runtime, mul_model: Path, x: Any) -> None:
    options = rt.session_options(intra_op_num_threads=1, config={"a": "1"})
    clone = options.clone()
    options.intra_op_num_threads, clone.config["b"] = 2, "2"
    options.config["a"] = "3"
    assert (clone.intra_op_num_threads, dict(clone.config)) == (1, {"a": "1", "b": "2"})
    assert (options.intra_op_num_threads, dict(options.config)) == (2, {"a": "3"})
    options.close()
    with rt.session(mul_model, clone) as session:
        assert session.run({"X": x})[0].sum() == 21


def test_dimensions_are_fixed_by_name_and_by_denotation(rt: oc.Runtime) -> None:
    with rt.session(add_model()) as session:
        assert session.inputs[0].shape == ["batch", 2]
    for add in ("add_free_dimension_override_by_name", "add_free_dimension_override_by_denotation"):
        options = rt.session_options()
        getattr(options, add)("batch" if add.endswith("name") else "DATA_BATCH", 5)
        with rt.session(add_model(), options) as session:
            assert session.inputs[0].shape == [5, 2]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [(("", 1), oc.InputError), (("n", -1), oc.InputError), (("n", 2**63), oc.InputError), (("n", 1.5), TypeError),
     (("n", True), TypeError), ((5, 1), TypeError), (("a\0", 1), oc.InputError)],
)  # fmt: skip
def test_a_dimension_that_cannot_be_is_refused(rt: oc.Runtime, arguments: Any, error: Any) -> None:
    options = rt.session_options()
    with pytest.raises(error):
        options.add_free_dimension_override_by_name(*arguments)
    with pytest.raises(error):
        options.add_free_dimension_override_by_denotation(*arguments)


def test_loading_can_be_cancelled_and_allowed_again(rt: oc.Runtime, mul_model: Path) -> None:
    options = rt.session_options()
    options.set_load_cancellation_flag()
    with pytest.raises(oc.OrtError) as raised:
        rt.session(mul_model, options)
    assert raised.value.code == raw.OrtErrorCode.ORT_MODEL_LOAD_CANCELED
    options.set_load_cancellation_flag(False)
    rt.session(mul_model, options).close()


def test_closed_options_refuse_everything(rt: oc.Runtime, mul_model: Path) -> None:
    options = rt.session_options(config={"a": "b"})
    options.close()
    uses = [lambda name=name: getattr(options, name) for name in _SETTINGS]
    uses += [lambda name=name, value=value: setattr(options, name, value or "x") for name, value in _SETTINGS.items()
             if isinstance(value, str) and name != "profile_file_prefix"]  # fmt: skip
    uses += [
        options.clone,
        lambda: options.config["a"],
        lambda: list(options.config),
        lambda: options.add_config_entry("a", "c"),
        lambda: options.add_initializer("W", np.ones(2, np.float32)),
        lambda: options.append_provider("CPU"),
        lambda: options.set_provider_selection_policy("default"),
        lambda: rt.session(mul_model, options),
        lambda: rt.compile_model(mul_model, options),
        lambda: rt.api.SetIntraOpNumThreads(options, 1),
    ]
    for use in uses:
        with pytest.raises(oc.ClosedError, match="this SessionOptions is closed"):
            use()
    assert repr(options) == "<ortcache.SessionOptions closed>"


def test_options_say_what_was_set(rt: oc.Runtime) -> None:
    assert repr(rt.session_options(intra_op_num_threads=2)) == "<ortcache.SessionOptions intra_op_num_threads=2>"
