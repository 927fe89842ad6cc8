"""Run options: one run's own settings, and ending it from another thread."""

from __future__ import annotations

import json
import logging
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.runtime import load

from ..support.models import loop_model, lora_model
from ..support.process import run_python

_FOREVER = {"trips": np.array(2**62), "start": np.zeros(1, np.float32)}


@pytest.fixture(scope="module")
def loop(rt: oc.Runtime) -> Any:
    with rt.session(loop_model(), intra_op_num_threads=1) as session:
        yield session


class _Run(threading.Thread):
    """A run on a thread of its own, and how it ended."""

    def __init__(self, session: Any, feeds: Any, options: Any) -> None:
        super().__init__(daemon=True)
        self._arguments = None, feeds, options
        self._session = session
        self.result: Any = None
        self.start()

    def run(self) -> None:
        try:
            self.result = self._session.run(*self._arguments)
        except oc.OrtcacheError as error:
            self.result = error


def test_terminate_ends_the_run_that_goes_on_in_another_thread(rt: oc.Runtime, loop: Any) -> None:
    options = rt.run_options()
    runs = [_Run(loop, _FOREVER, options) for _ in range(2)]
    time.sleep(0.3)
    assert all(run.is_alive() for run in runs)
    options.terminate()
    for run in runs:
        run.join(20)
        assert not run.is_alive()
        assert isinstance(run.result, oc.OrtError) and "terminate" in run.result.message.lower()


def test_terminated_options_end_later_runs_until_they_are_reset(rt: oc.Runtime, loop: Any) -> None:
    options, feeds = rt.run_options(), {"trips": np.array(3), "start": np.zeros(1, np.float32)}
    options.terminate()
    with pytest.raises(oc.OrtError, match=r"(?i)terminate"):
        loop.run(None, feeds, options)
    assert loop.run(None, feeds)[0].tolist() == [3]  # other runs go on
    assert loop.run(None, feeds, rt.run_options())[0].tolist() == [3]
    options.reset_terminate()
    assert loop.run(None, feeds, options)[0].tolist() == [3]


def test_closing_options_waits_for_the_run_that_uses_them(rt: oc.Runtime, loop: Any) -> None:
    options = rt.run_options()
    pointer = options._pointer
    run = _Run(loop, _FOREVER, options)
    time.sleep(0.2)
    options.close()
    time.sleep(0.1)
    assert run.is_alive()
    with pytest.raises(oc.ClosedError):
        options.terminate()
    rt.api.RunOptionsSetTerminate(pointer)  # it is still there: the run has it
    run.join(20)
    assert isinstance(run.result, oc.OrtError)


def test_settings_are_read_back_from_c(rt: oc.Runtime) -> None:
    options = rt.run_options(log_severity_level="error", log_verbosity_level=3, logid="Läufe")
    assert (options.log_severity_level, options.log_verbosity_level, options.logid) == (3, 3, "Läufe")
    rt.api.RunOptionsSetRunTag(options, b"other")
    rt.api.RunOptionsSetRunLogSeverityLevel(options, 1)
    assert (options.logid, options.log_severity_level) == ("other", 1)


def test_nothing_set_is_the_sessions(rt: oc.Runtime) -> None:
    options = rt.run_options()
    assert (options.log_severity_level, options.log_verbosity_level, options.logid) == (-1, 0, "")


def test_the_tag_stands_in_the_runs_log_lines(rt: oc.Runtime, mul_model: Path, x: Any, caplog: Any) -> None:
    with rt.session(mul_model, log_severity_level="info") as session, caplog.at_level(logging.INFO, "onnxruntime"):
        session.run(None, {"X": x}, rt.run_options(logid="mein-Läufer"))
        assert "Running with tag: mein-Läufer" in caplog.messages


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"log_id": "x"}, TypeError, "RunOptions has no setting 'log_id'; did you mean logid?"),
        ({"terminate": True}, TypeError, "no setting 'terminate'"),
        ({"logid": 5}, TypeError, "logid must be a str"),
        ({"logid": "a\0b"}, oc.InputError, "NUL"),
        ({"log_severity_level": 9}, ValueError, "0 .verbose. to 4"),
        ({"log_severity_level": "loud"}, ValueError, "not one of verbose, info"),
        ({"log_verbosity_level": -1}, oc.InputError, "must be from 0"),
        ({"config": {"": "x"}}, oc.InputError, "config key is empty"),
    ],
)
def test_a_wrong_setting_says_what_is_wrong(rt: oc.Runtime, settings: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        rt.run_options(**settings)


def test_a_misspelt_attribute_is_not_taken_in_silence(rt: oc.Runtime) -> None:
    with pytest.raises(AttributeError, match=r"run options have no setting 'logId'; did you mean logid\?"):
        rt.run_options().logId = "x"


def test_config_entries_are_read_from_c(rt: oc.Runtime) -> None:
    key = raw.kOrtRunOptionsConfigDisableSynchronizeExecutionProviders
    options = rt.run_options(config={key: True})
    assert options.config[key] == "1"
    options.config["my.key"] = "ünï"
    options.config["my.key"] = 7
    assert dict(options.config) == {key: "1", "my.key": "7"}
    rt.api.AddRunConfigEntry(options, b"my.key", b"8")
    assert options.config["my.key"] == "8" and options.config.get("none") is None
    with pytest.raises(KeyError, match="none"):
        options.config["none"]


def test_config_entries_are_remembered_where_c_cannot_be_asked(rt: oc.Runtime) -> None:
    options = load(rt.library, api_version=20).run_options(config={"a": 1})
    assert dict(options.config) == {"a": "1"}


@pytest.mark.parametrize(("key", "value"), [("k" * 1025, "x"), ("k", "x" * 200_000)])
def test_an_entry_that_is_too_long_is_onnx_runtimes_error(rt: oc.Runtime, key: str, value: str) -> None:
    with pytest.raises(oc.OrtError, match="longer than maximum length"):
        rt.run_options().add_config_entry(key, value)


def test_a_run_writes_its_own_profile(rt: oc.Runtime, mul_model: Path, x: Any, tmp_path: Path) -> None:
    if not rt.api.raw.holds("RunOptionsEnableProfiling"):
        with pytest.raises(oc.UnsupportedFunctionError, match=r"since ONNX Runtime 1\.25"):
            rt.run_options().enable_profiling("x")
        return
    options = rt.run_options()
    options.enable_profiling(tmp_path / "pröfile")
    with rt.session(mul_model) as session:
        session.run(None, {"X": x}, options)
        (file,) = tmp_path.iterdir()
        assert file.name.startswith("pröfile") and json.loads(file.read_text("utf-8"))
        options.disable_profiling()
        session.run(None, {"X": x}, options)
    assert len(list(tmp_path.iterdir())) == 1


@pytest.fixture
def adapter(tmp_path: Path) -> Path:
    """A LoRA adapter that gives A = [5, 7]."""
    path = tmp_path / "ädapter.onnx_adapter"
    code = """
        import sys, numpy, onnxruntime
        out = onnxruntime.AdapterFormat()
        out.set_adapter_version(1), out.set_model_version(1)
        out.set_parameters({"A": onnxruntime.OrtValue.ortvalue_from_numpy(numpy.array([5, 7], "float32"))})
        out.export_adapter(sys.argv[1])
    """
    run_python(code, path, quiet=False)
    return path


@pytest.mark.parametrize("form", ["path", "bytes"])
def test_an_adapter_gives_a_run_its_parameters(rt: oc.Runtime, adapter: Path, form: str) -> None:
    source = adapter if form == "path" else bytearray(adapter.read_bytes())
    options, feeds = rt.run_options(), {"X": np.ones(2, np.float32)}
    with rt.lora_adapter(source) as opened:
        options.add_active_adapter(opened)
    del opened  # closed and dropped: the options hold what they need
    with rt.session(lora_model()) as session:
        assert session.run(None, feeds, options)[0].tolist() == [6, 8]
        assert session.run(None, feeds)[0].tolist() == [1, 1]


@pytest.mark.parametrize("source", [b"no adapter", b"x" * 5000])
def test_what_is_no_adapter_is_an_error(rt: oc.Runtime, source: bytes) -> None:
    with pytest.raises(oc.OrtError):
        rt.lora_adapter(source)


def test_an_adapter_that_is_not_there_is_an_error(rt: oc.Runtime, tmp_path: Path) -> None:
    with pytest.raises(oc.OrtError):
        rt.lora_adapter(tmp_path / "gone")
    with pytest.raises(oc.InputError, match="adapter is empty"):
        rt.lora_adapter(b"")
    with pytest.raises(TypeError, match="an adapter must be a LoraAdapter, not str"):
        rt.run_options().add_active_adapter("x")  # type: ignore[arg-type]


def test_closed_options_refuse_everything(rt: oc.Runtime, mul_model: Path, x: Any) -> None:
    options = rt.run_options(config={"a": "b"})
    options.close()
    uses = [
        options.terminate,
        options.reset_terminate,
        lambda: options.logid,
        lambda: setattr(options, "logid", "x"),
        lambda: options.config["a"],
        lambda: options.add_config_entry("a", "c"),
        lambda: options.enable_profiling("x"),
        lambda: rt.session(mul_model).run(None, {"X": x}, options),
    ]
    for use in uses:
        with pytest.raises(oc.ClosedError, match="this RunOptions is closed"):
            use()
    assert repr(options) == "<ortcache.RunOptions closed>"
