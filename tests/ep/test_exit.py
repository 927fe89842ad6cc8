"""The end of a process, with everything still there: exit status 0 and nothing on stderr. And forked children."""

from __future__ import annotations

import os

import pytest

from ..support.oracles import need
from ..support.process import run_python

START = """
import atexit, gc, os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # that a process that forks has threads
import numpy as np
import ortcache.ep as ep
from ortcache.runtime import load
from tests.support.ep_classes import PlainMul, make_ep, multiply
from tests.support.ep_models import mul_graph

MODEL = mul_graph(1, [2], [2], [2])
FEEDS = {"A": np.array([1, 2], np.float32), "B": np.array([3, 4], np.float32)}
say = lambda *words: os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def check(session):
    assert session.run(FEEDS)[0].tolist() == [3, 8]

rt = load(sys.argv[1])
values = {}
devices = rt.register_ep(ep.MulEp, make_ep(close=lambda self: say("closed"), name="Closing"))

def open_session(name="Closing", **settings):
    options = rt.session_options(ep_cache=values, intra_op_num_threads=1, **settings)
    options.append_ep([device for device in devices if device.ep_name == name])
    session = rt.session(MODEL, options)
    check(session)
    return session

"""

ENDS = {
    "everything is there": ("session, mul = open_session(), open_session('MulExecutionProvider')", ["closed"]),
    "the session is closed": ("open_session().close()", ["closed"]),
    "the session is dropped": ("session = open_session(); del session; gc.collect()", ["closed"]),
    "only the session is there": ("session = open_session(); del rt, devices, open_session; gc.collect()", ["closed"]),
    "a module that is cleared last has the session": ("sys.kept = open_session()", ["closed"]),
    "verbose logging": ("session = open_session(log_severity_level='verbose')", ["closed"]),
    "an exit handler runs the session": (
        "session = open_session(); atexit.register(lambda: (check(session), say('ran')))",
        ["ran", "closed"],
    ),
    "a thread had the session": (
        "t = threading.Thread(target=lambda: setattr(sys, 'kept', open_session())); t.start(); t.join()",
        ["closed"],
    ),
    "a failure is pending": (
        """
bad = rt.register_ep(make_ep(compile=lambda *args: 1 / 0))
options = rt.session_options(); options.append_ep(bad)
try:
    rt.session(MODEL, options)
except Exception as error:
    kept = error
session = open_session()""",
        ["closed"],
    ),
    "the exit is one of sys.exit": ("session = open_session(); sys.exit(0)", ["closed"]),
    "a library is registered and no session made": ("pass", []),
    "the library is unregistered": (
        "open_session().close(); del devices; rt.unregister_ep_library('MulExecutionProvider')",
        ["closed"],
    ),
}


@pytest.mark.parametrize("end", ENDS)
def test_a_process_ends_cleanly(library: object, end: str) -> None:
    code, said = ENDS[end]
    assert run_python(START + code, library, quiet="verbose" not in end).split("\n")[:-1] == said


def test_a_forked_child_uses_what_it_inherited(library: object) -> None:
    need("linux", hasattr(os, "fork"))
    # It ends as multiprocessing's children do: in another exit ORT's own cleanup waits for a thread that is not there.
    code = """
session, mul = open_session(), open_session('MulExecutionProvider')
child = os.fork()
if not child:
    check(session)
    check(mul)
    another = open_session('MulExecutionProvider')  # and a new one
    another.close()
    os._exit(0)
_, status = os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(status) == 0
check(session)
check(open_session('MulExecutionProvider'))
assert len(values) == 1
say("parent")
"""
    assert run_python(START + code, library).split() == ["parent", "closed"]


def test_a_child_forked_while_threads_run_is_not_blocked(library: object) -> None:
    need("linux", hasattr(os, "fork"))
    code = """
session, stop = open_session('MulExecutionProvider'), []

def work():
    while not stop:
        check(session)
        open_session('MulExecutionProvider').close()

threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for _ in range(10):
    child = os.fork()
    if not child:
        check(session)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
stop.append(True)
for thread in threads:
    thread.join()
say("parent")
"""
    assert run_python(START + code, library, timeout=100).split() == ["parent"]
