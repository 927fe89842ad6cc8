"""The environment: one a process, and its thread pools."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

import ortcache as oc
from ortcache.api.env import Environment
from ortcache.api.runtime import load

from ..support.process import run_python


def test_the_environment_is_made_on_first_use_and_once(library: Path) -> None:
    rt = load(library)
    assert rt._env is None
    assert rt.env is rt.env and not rt.env.closed
    rt.close()


def test_closing_a_runtime_closes_its_environment_and_no_other(rt: oc.Runtime, mul_model: Path, x: Any) -> None:
    other = load(rt.library)
    session = other.session(mul_model)
    other.close()
    other.close()
    assert other.env.closed and not rt.env.closed
    assert session.run({"X": x})[0].sum() == 21  # what was made from it goes on
    session.close()
    for use in (lambda: other.session(mul_model), other.ep_devices, lambda: other.compile_model(mul_model)):
        with pytest.raises(oc.ClosedError, match="this Environment is closed"):
            use()


def test_a_runtime_that_never_made_an_environment_can_be_closed(library: Path) -> None:
    with load(library) as rt:
        pass
    assert rt._env is None


def test_the_log_level_of_the_environment_can_change(rt: oc.Runtime, mul_model: Path, caplog: Any) -> None:
    with caplog.at_level(logging.DEBUG, "onnxruntime"):
        rt.session(mul_model).close()
        assert caplog.records == []
        rt.env.set_log_level("info")
        try:
            rt.session(mul_model).close()
            assert {record.levelno for record in caplog.records} == {logging.INFO}
        finally:
            rt.env.set_log_level("warning")
        caplog.clear()
        rt.session(mul_model).close()
        assert caplog.records == []


@pytest.mark.parametrize(
    ("level", "error"), [("loud", ValueError), (5, ValueError), (-1, ValueError), (None, TypeError)]
)
def test_a_log_level_that_is_none_is_refused(rt: oc.Runtime, level: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="level"):
        rt.env.set_log_level(level)
    with pytest.raises(error, match="level"):
        Environment(rt.native, level=level)
    with pytest.raises(error, match="level"):
        load(rt.library, log_level=level)


@pytest.mark.parametrize(("name", "error"), [("a\0b", oc.InputError), (5, TypeError)])
def test_a_name_that_is_none_is_refused(rt: oc.Runtime, name: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="environment name"):
        Environment(rt.native, name)


def test_sessions_share_the_environments_thread_pools(mul_model: Path) -> None:
    code = """
        import os, sys, ortcache
        threads = lambda: len(os.listdir("/proc/self/task"))
        with ortcache.load(intra_op_threads=4, inter_op_threads=1) as rt:
            before = threads()
            rt.env
            pools = threads() - before
            sessions = [rt.session(sys.argv[1]) for _ in range(3)]
            print(pools >= 3, threads() - before == pools, rt.session_options().use_per_session_threads)
            own = rt.session(sys.argv[1], use_per_session_threads=True, intra_op_num_threads=3)
            print(threads() - before - pools)
    """
    assert run_python(code, mul_model).split() == ["True", "True", "False", "2"]


@pytest.mark.parametrize("threads", [{"intra_op_threads": -1}, {"inter_op_threads": 2**31}, {"intra_op_threads": "4"}])
def test_a_number_of_threads_that_cannot_be_is_refused(rt: oc.Runtime, threads: Any) -> None:
    with pytest.raises((oc.InputError, TypeError), match="_op_threads must be"):
        load(rt.library, **threads)
    with pytest.raises((oc.InputError, TypeError), match="_op_threads must be"):
        Environment(rt.native, **threads)


def test_a_closed_environment_refuses_everything(rt: oc.Runtime) -> None:
    env = Environment(rt.native)
    env.close()
    with pytest.raises(oc.ClosedError, match="this Environment is closed"):
        env.set_log_level("info")


def test_environments_come_and_go(mul_model: Path) -> None:
    code = """
        import sys, numpy, ortcache
        for _ in range(20):
            with ortcache.load() as rt, rt.session(sys.argv[1], intra_op_num_threads=1) as session:
                assert session.run({"X": numpy.ones((3, 2), "float32")})[0].sum() == 21
                devices = rt.ep_devices()
            del rt, session, devices
        print("end")
    """
    assert run_python(code, mul_model).strip() == "end"
