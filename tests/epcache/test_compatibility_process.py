"""The end of the process, its copies, and a process without a file system."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from ..support.backends import child, wanted
from ..support.oracles import need

SETUP = """
import gc, os, sys, threading, time, warnings
warnings.simplefilter("ignore")  # that a process with threads is forked
import numpy as np, ortcache as oc
from ortcache.ep import MulEp
from tests.support.backends import open_runtime
from tests.support.cache_eps import EXPECTED, FEEDS, MODEL, LazyEp, cached_session
rt = open_runtime(log_level="error")
store = oc.MemoryStore()
devices = rt.register_ep(MulEp, LazyEp, name="both")
mul, lazy = [[d for d in devices if d.ep_name == ep.name] for ep in (MulEp, LazyEp)]
def session_of(devices, cache=store):
    options = rt.session_options(intra_op_num_threads=1)
    options.set_ep_cache(cache)
    options.append_ep(devices)
    return rt.session(MODEL, options), options
first, options = session_of(mul)
second, _ = session_of(lazy)
assert (first.run(FEEDS)[0] == EXPECTED).all() and (second.run(FEEDS)[0] == EXPECTED).all()
"""


@pytest.fixture(autouse=True)
def linux() -> None:
    need("linux", sys.platform == "linux")


FOREVER = """
def forever():
    try:
        while True:
            second.run(FEEDS)
    except oc.ClosedError:  # at exit sessions are closed, unless they are in a run
        pass
"""


ENDS = [
    "",
    "sys.exit(0)",
    "first.close()",
    "options.close()",
    "rt.close()",
    "del first, second, options, _; gc.collect(); rt.unregister_ep_library('both')",
    "circle = [rt, first, options]; circle.append(circle); gc.disable(); del rt, first",
    "import atexit; atexit.register(lambda: second.run(FEEDS))",
    "sys.modules['kept by a module'] = second; sys.modules['and its options'] = options",
    "threading.Thread(target=lambda: [second.run(FEEDS) for _ in range(300)]).start()",
    "[threading.Thread(target=lambda: [session_of(mul) for _ in range(10)]).start() for _ in range(3)]",
    f"{FOREVER}\nthreading.Thread(target=forever, daemon=True).start()",
    f"{FOREVER}\n[threading.Thread(target=forever, daemon=True).start() for _ in range(4)]; time.sleep(0.02)",
]


# What differs between the backends is not much here, and each is a process.
@pytest.mark.parametrize("end", ENDS if wanted() == "host" else ENDS[::3])
def test_whatever_is_registered_at_exit_nothing_is_said_and_the_status_is_0(end: str) -> None:
    assert child(f"{SETUP}\n{end}") == ""


WORK = [
    "pass",
    "gc.collect()",
    "first.close(); second.close(); options.close()",
    "assert (second.run(FEEDS)[0] == EXPECTED).all()",
    "made, _ = session_of(mul); assert (made.run(FEEDS)[0] == EXPECTED).all(); assert made.ep_cache_stats().hits",
    "made, _ = session_of(lazy); made.run(FEEDS); assert made.ep_cache_stats().writes == 1",
    "options.set_ep_cache({}); rt.session(MODEL, options).close()",
]


@pytest.mark.parametrize("work", WORK if wanted() == "host" else WORK[::3])
def test_a_forked_child_goes_on_with_a_copy_of_everything(work: str) -> None:
    # The child of a process whose other threads are not in ONNX Runtime at that moment; it ends by os._exit, as those
    # of multiprocessing do. A memory store is a copy, a directory store is shared.
    code = f"""{SETUP}
child = os.fork()
if child == 0:
    try:
        {work}
        os._exit(0)
    finally:
        os._exit(1)
print(os.waitpid(child, 0)[1])
assert (first.run(FEEDS)[0] == EXPECTED).all()
"""
    assert child(code) == "0\n"


def test_parent_and_child_share_a_directory_store(tmp_path: Path) -> None:
    code = f"""{SETUP}
shared = oc.DirectoryStore(sys.argv[1])
child = os.fork()
if child == 0:
    try:
        made, _ = session_of(mul, shared)
        os._exit(0 if made.ep_cache_stats().writes == 1 else 1)
    finally:
        os._exit(2)
print(os.waitpid(child, 0)[1], session_of(mul, shared)[0].ep_cache_stats().hits)
"""
    assert child(code, tmp_path / "store") == "0 1\n"


def test_a_fork_while_other_threads_use_the_cache_ends_well() -> None:
    code = f"""{SETUP}
go_on = True
def work():
    while go_on:
        second.run(FEEDS)
threads = [threading.Thread(target=work) for _ in range(2)]
[thread.start() for thread in threads]
for _ in range(10):
    time.sleep(0.01)
    child = os.fork()
    if child == 0:
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
go_on = False
[thread.join() for thread in threads]
print("done")
"""
    assert child(code) == "done\n"


WATCHED = """
import json, logging, os, sys
logging.disable()  # what fails is told
import numpy as np, ortcache as oc
from ortcache.ep import MulEp
from tests.support.backends import open_runtime
from tests.support.cache_eps import EXPECTED, FEEDS, MODEL, LazyEp, Recorder, cached_session
rt = open_runtime(log_level="error")
devices = rt.register_ep(MulEp)
lazy = rt.register_ep(LazyEp)
recorder = Recorder()
touched, watching = [], [False]
FILES = ("open", "os.", "shutil.", "tempfile.", "pathlib.", "glob.", "sqlite3.", "socket.", "subprocess.")
def hook(event, args):
    if watching[0] and event.startswith(FILES):
        touched.append([event, str(args[:1])])
sys.addaudithook(hook)
def session(devices, broken=False):
    recorder.fails = OSError("no cache today") if broken else None
    with cached_session(rt, devices, recorder) as made:
        assert (made.run(FEEDS)[0] == EXPECTED).all()
def all_of_them():
    session(devices); session(devices); session(lazy); session(devices, True)
    recorder.values.clear(); session(devices)
all_of_them()  # what is imported late is imported now
os.chdir(sys.argv[1])
watching[0] = True
all_of_them()
watching[0] = False
print(json.dumps([touched, recorder.kinds, os.listdir(".")]))
"""


def test_with_a_cache_set_nothing_touches_the_file_system(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir(mode=0o500)
    # Python's audit events: what ONNX Runtime does by itself, such as its telemetry in the home folder, is not ours.
    touched, kinds, left = json.loads(child(WATCHED, tmp_path / "empty", TMPDIR=str(tmp_path / "nowhere")))
    assert touched == []
    assert kinds == "rwrrwrwrw" + "rrrwrwrw"  # cold, and then warm
    assert left == []
