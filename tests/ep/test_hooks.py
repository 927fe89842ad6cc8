"""What an execution provider is told while a session lives: runs, options, its end; and its log."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest

from ortcache import raw
from ortcache.ep import RunInfo, instances
from ortcache.ep.vtable import targets
from ortcache.errors import ClosedError
from ortcache.runtime import Runtime

from ..support.ep_classes import PlainMul, ep_session, make_ep, multiply, registered
from ..support.ep_models import mul_graph

MODEL = mul_graph(1, [2], [2], [2])
FEEDS = {"A": np.array([1, 2], np.float32), "B": np.array([3, 4], np.float32)}


def test_runs_are_announced_with_their_options(rt: Runtime) -> None:
    log: list[Any] = []

    def note(what: str) -> Any:
        def hook(self: Any, run: RunInfo) -> None:
            log.append((what, run.tag, run.log_severity_level, run.log_verbosity_level, run.config("some.key")))

        return hook

    ep = make_ep(on_run_start=note("start"), on_run_end=note("end"))
    with ep_session(rt, ep, MODEL) as session:
        session.run(FEEDS)
        session.run(None, FEEDS, rt.run_options(logid="tag", log_severity_level=1, config={"some.key": "value"}))
    quiet, loud = ("", -1, 0, None), ("tag", 1, 0, "value")
    assert log == [("start", *quiet), ("end", *quiet), ("start", *loud), ("end", *loud)]


def test_the_view_of_a_run_is_dead_after_the_call(rt: Runtime) -> None:
    kept: list[RunInfo] = []
    with ep_session(rt, make_ep(on_run_start=lambda self, run: kept.append(run)), MODEL) as session:
        session.run(FEEDS)
    with pytest.raises(ClosedError):
        _ = kept[0].tag
    with pytest.raises(ClosedError):
        kept[0].config("key")


def test_dynamic_options_come_as_a_dict(rt: Runtime) -> None:
    seen: list[Any] = []
    ep = make_ep(set_dynamic_options=lambda self, options: seen.append(options))
    with ep_session(rt, ep, MODEL) as session:
        session.set_ep_dynamic_options({"ep.dynamic.workload_type": "Efficient", "ä": ""})
    assert seen == [{"ep.dynamic.workload_type": "Efficient", "ä": ""}]


def test_what_a_class_does_not_override_is_null(rt: Runtime) -> None:
    optional = {"SetDynamicOptions", "OnRunStart", "OnRunEnd", "GetEpCacheDataCallbackSupport"}

    def filled(ep: Any) -> set[str]:
        with ep_session(rt, ep, MODEL):
            (instance,) = targets("OrtEp")
            struct = raw.OrtEp.from_address(instance.address)
            assert struct.ort_version_supported == min(rt.native.library_api_version, raw.HEADERS_API_VERSION)
            return {name for name, _ in raw.OrtEp._fields_[1:] if getattr(struct, name)}

    always = {"GetName", "GetCapability", "Compile", "ReleaseNodeComputeInfos"}
    assert filled(PlainMul) == always
    hooks = dict.fromkeys(("on_run_start", "on_run_end", "set_dynamic_options"), lambda *args: None)
    assert filled(make_ep(cache_support=1, **hooks)) == always | optional


def test_the_end_of_a_session_closes_in_order(rt: Runtime) -> None:
    log: list[str] = []

    class Kernel:
        create_state = staticmethod(lambda: "state")
        compute = staticmethod(multiply)
        release_state = staticmethod(lambda state: log.append(f"release {state}"))

    ep = make_ep(compile=lambda self, graph, node: Kernel(), close=lambda self: log.append("close"))
    with registered(rt, ep) as devices:
        with ep_session(rt, devices, MODEL):
            assert log == []
        assert log == ["release state", "close"] and instances() == []


def test_messages_go_to_the_session_log(rt: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    def init(self: Any, context: Any) -> None:
        PlainMul.__init__(self, context)
        log = context.log
        for level in ("verbose", "info", "warning", "error", "fatal"):
            getattr(log, level)("%s with %d%%", level, 7)
        log.warning("100% without arguments \0 \ud800")
        log.warning("wrong %d", "argument")
        log.warning(ValueError("not text"))

    ep = make_ep(__init__=init)
    with caplog.at_level(logging.DEBUG, "onnxruntime"), ep_session(rt, ep, MODEL, log_severity_level="info"):
        pass
    mine = {r.getMessage(): r for r in caplog.records if "test_hooks.py" in getattr(r, "ort_location", "")}
    assert list(mine) == [
        "info with 7%",
        "warning with 7%",
        "error with 7%",
        "fatal with 7%",
        "100% without arguments ? ?",
        "not text",
    ]
    record = mine["warning with 7%"]
    assert record.levelno == logging.WARNING and "init" in record.ort_location  # type: ignore[attr-defined]
    assert any("wrong %d" in record.getMessage() for record in caplog.records if record.name == "ortcache.ep")


def test_at_the_end_messages_go_to_python(rt: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    ep = make_ep(close=lambda self: self.context.log.error("at the %s", "end"))
    with caplog.at_level(logging.DEBUG), ep_session(rt, ep, MODEL, log_severity_level="verbose"):
        pass
    found = [(record.name, record.getMessage()) for record in caplog.records if "at the end" in record.getMessage()]
    assert found == [("ortcache.ep", "at the end")]


def test_a_session_with_verbose_logging_is_made_and_closed_many_times(rt: Runtime) -> None:
    class Kernel:
        def __init__(self, log: Any) -> None:
            self.log = log

        def compute(self, context: Any) -> None:
            self.log.verbose("compute")
            multiply(context)

        def release_state(self, state: Any) -> None:
            self.log.verbose("release")  # ORT's logger must not be used any more

    ep = make_ep(
        compile=lambda self, graph, node: Kernel(self.context.log),
        close=lambda self: self.context.log.verbose("close"),
    )
    logger = logging.getLogger("onnxruntime")
    before, logger.level = logger.level, logging.CRITICAL
    try:
        rt.env.set_log_level("verbose")
        with registered(rt, ep) as devices:
            for _ in range(100):
                with ep_session(rt, devices, MODEL, log_severity_level="verbose") as session:
                    assert session.run(FEEDS)[0].tolist() == [3, 8]
    finally:
        rt.env.set_log_level("warning")
        logger.setLevel(before)
