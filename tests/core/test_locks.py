"""Locks in a forked child: free where another thread of the parent held them, else still the forking thread's."""

from __future__ import annotations

import os

import pytest

from ..support.oracles import need
from ..support.process import run_python


@pytest.mark.parametrize("holder", ["another thread", "this thread"])
def test_a_forked_child_can_take_every_lock(holder: str) -> None:
    need("linux", hasattr(os, "fork"))
    code = """
import os, sys, threading, warnings
from ortcache.locks import new_lock
warnings.simplefilter("ignore", DeprecationWarning)  # that a process that forks has threads
lock, taken, done = new_lock(), threading.Event(), threading.Event()

def fork():
    child = os.fork()
    if not child:
        thread = threading.Thread(target=lambda: got.append(lock.acquire(timeout=0.2)))
        got = []
        thread.start(), thread.join()
        os._exit(got[0])
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])

def hold():
    with lock:
        taken.set()
        done.wait()

if sys.argv[1] == "this thread":
    with lock:
        print(fork())  # held in the child too, and let go once
    print(lock.acquire(blocking=False))
else:
    thread = threading.Thread(target=hold)
    thread.start()
    taken.wait()
    print(fork(), lock.acquire(blocking=False))
    done.set()
    thread.join()
"""
    assert run_python(code, holder).split() == (["0", "True"] if holder == "this thread" else ["1", "False"])


def test_a_session_runs_in_a_child_that_is_forked_while_another_thread_learns_a_plan(library: object) -> None:
    need("linux", hasattr(os, "fork"))
    code = """
import os, sys, threading, warnings
import numpy as np
import ortcache as oc
warnings.simplefilter("ignore", DeprecationWarning)
rt = oc.load(sys.argv[1])
session = rt.session(rt.library.parents[1] / "datasets" / "mul_1.onnx", intra_op_num_threads=1)
x = np.ones((3, 2), np.float32)
held, done = threading.Event(), threading.Event()

def hold():
    with session._plans._lock:
        held.set()
        done.wait()

thread = threading.Thread(target=hold)
thread.start()
held.wait()
child = os.fork()
if not child:
    os._exit(int(session.run({"X": x})[0].shape == (3, 2)))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
done.set()
thread.join()
"""
    assert run_python(code, library).split() == ["1"]
