"""The end of the process, and its copies: nothing crashes, hangs or complains, whatever is still there."""

from __future__ import annotations

import os
import sys

import pytest

from ..support.process import run_python

_SETUP = """
import gc, os, sys, threading
import numpy as np, ortcache as oc
from ortcache.cli.sample import mul_model
rt = oc.load()
session = rt.session(mul_model(), intra_op_num_threads=1)
X = np.ones((3, 2), np.float32)
value = rt.value(X)
binding = session.bind({"X": X}, {"Y": None})
for _ in range(4):
    results = session.run({"X": X})
    binding.run()
outputs = binding.outputs
array = value.numpy()
kept = [session.run(["Y"], {"X": X})[0] for _ in range(3)]
"""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "sys.exit(0)",
        "session.close()",
        "rt.close()",
        "del session, rt, value; gc.collect()",
        "circle = [session, binding, outputs]; circle.append(circle)",
        "gc.disable(); circle = [rt, session]; circle.append(circle); del rt, session",
        "sys.modules['kept by a module'] = session",
        "import atexit; atexit.register(lambda: session.run({'X': X}))",
        "import atexit; atexit.register(session.close); atexit.register(binding.close)",
        "threading.Thread(target=lambda: [session.run({'X': X}) for _ in range(5000)]).start()",
        "oc.load().session(mul_model()).run({'X': X})",
    ],
)
def test_whatever_is_there_at_exit_nothing_is_said_and_the_status_is_0(end: str) -> None:
    run_python(f"{_SETUP}\n{end}")


def test_what_is_used_after_the_exit_handlers_is_closed() -> None:
    code = f"""{_SETUP}
class Last:
    def __del__(self, uses=(lambda: session.run({{"X": X}}), binding.run, lambda: session.metadata), write=os.write):
        for use in uses:
            try:
                use()
            except BaseException as error:
                write(1, type(error).__name__.encode() + b" ")
last = Last()
"""
    assert run_python(code) == "ClosedError " * 3


def test_an_exception_at_the_end_is_what_is_said() -> None:
    assert run_python(f"{_SETUP}\nraise SystemExit(3)", status=3) == ""


@pytest.mark.parametrize(
    "work",
    [
        "pass",
        "results = outputs = array = value = kept = None; gc.collect()",
        "session.close(); binding.close(); rt.close(); del session, rt, binding; gc.collect()",
        "assert session.run({'X': X})[0].tolist() == [[1, 2], [3, 4], [5, 6]]",
        "binding.run(); assert binding.outputs['Y'].tolist() == [[1, 2], [3, 4], [5, 6]]",
        "assert session.run(['Y'], {'X': X})[0].shape == (3, 2)",
        "assert rt.session(mul_model(), intra_op_num_threads=1).run({'X': X})[0].shape == (3, 2)",
    ],
)
def test_a_forked_child_works_on_with_one_thread(work: str) -> None:
    # It ends as multiprocessing's children do: in a normal exit, ORT's own cleanup (the official module's too) waits
    # for a thread that the child does not have.
    if not hasattr(os, "fork"):
        assert sys.platform == "win32"
        return
    code = f"""{_SETUP}
import warnings
warnings.simplefilter("ignore")  # that this process has threads
child = os.fork()
if child == 0:
    try:
        {work}
        os._exit(0)
    finally:
        os._exit(1)
_, status = os.waitpid(child, 0)
assert session.run({{"X": X}})[0].tolist() == [[1, 2], [3, 4], [5, 6]]
print(status)
"""
    assert run_python(code, timeout=60) == "0\n"


def test_a_fork_while_others_run_ends_well() -> None:
    if not hasattr(os, "fork"):
        assert sys.platform == "win32"
        return
    code = f"""{_SETUP}
import time, warnings
warnings.simplefilter("ignore")
go_on = True
def work():
    while go_on:
        session.run({{"X": X}})
        rt.value(X).close()
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
for _ in range(10):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        results = outputs = kept = value = None
        gc.collect()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
go_on = False
[thread.join() for thread in threads]
print("done")
"""
    assert run_python(code, timeout=60) == "done\n"


def test_multiprocessing_by_fork_works() -> None:
    if not hasattr(os, "fork"):
        assert sys.platform == "win32"
        return
    code = f"""{_SETUP}
import multiprocessing, warnings
warnings.simplefilter("ignore")
def work(number):
    return session.run({{"X": X * number}})[0].tolist()
with multiprocessing.get_context("fork").Pool(2) as pool:
    print(pool.map(work, range(4)) == [(X * n * np.arange(1, 7).reshape(3, 2)).tolist() for n in range(4)])
"""
    assert run_python(code, timeout=60) == "True\n"
