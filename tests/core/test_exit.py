"""The end of the process, and a forked child's: with everything open, and in the middle of a run."""

from __future__ import annotations

import pytest

from ..support.process import run_python


def test_the_interpreter_exits_with_everything_open(mul_model: object) -> None:
    code = """
        import sys, numpy, ortcache
        rt = ortcache.load(log_level="info")
        options = rt.session_options(log_severity_level="info", enable_mem_pattern=False)
        sessions = [rt.session(sys.argv[1], options) for _ in range(3)]
        values = [s.run({"X": numpy.ones((3, 2), "float32")}) for s in sessions]
        value, run, clone, devices = rt.value([1.0]), rt.run_options(), options.clone(), rt.ep_devices()
        cycle = [sessions]
        cycle.append(cycle)
        print("end")
    """
    assert run_python(code, mul_model).strip() == "end"


@pytest.mark.parametrize("status", [0, 3])
def test_the_interpreter_exits_while_a_thread_is_in_a_run(status: int) -> None:
    code = """
        import sys, threading, time, numpy, ortcache
        from tests.support.models import loop_model
        session = ortcache.load().session(loop_model(), intra_op_num_threads=1)
        feeds = {"trips": numpy.array(2**62), "start": numpy.zeros(1, "float32")}
        threading.Thread(target=session.run, args=(feeds,), daemon=True).start()
        time.sleep(0.3)
        print("end")
        sys.exit(int(sys.argv[1]))
    """
    assert run_python(code, status, status=status).strip() == "end"


def test_at_exit_what_a_thread_is_using_stays() -> None:
    code = """
        import threading, time
        from ortcache.core.handle import Handle
        released = []
        parent = Handle("parent", lambda p: print("released", p))
        child = Handle("child", lambda p: print("released", p), parents=[parent])
        other = Handle("other", lambda p: print("released", p))
        entered = threading.Event()
        def run():
            child._enter()
            entered.set()
            time.sleep(60)
        threading.Thread(target=run, daemon=True).start()
        entered.wait()
    """
    assert run_python(code).split("\n") == ["released other", ""]


def test_a_forked_child_neither_releases_nor_waits_for_what_the_parent_made(mul_model: object) -> None:
    code = """
        import os, sys, warnings, numpy, ortcache
        warnings.simplefilter("ignore")  # 3.12 warns of every fork where there are threads
        rt = ortcache.load()
        session = rt.session(sys.argv[1], intra_op_num_threads=4)
        session.run({"X": numpy.ones((3, 2), "float32")})
        child = os.fork()
        if not child:
            session.close()
            os._exit(0)  # as multiprocessing does; exit() would wait in ORT's own clean-up
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        print(session.run({"X": numpy.ones((3, 2), "float32")})[0].sum())
    """
    assert run_python(code, mul_model, timeout=60).strip() == "21.0"
