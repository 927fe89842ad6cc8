"""Directories of processes that fork."""

from __future__ import annotations

import os
from pathlib import Path

from ..support.oracles import need
from ..support.process import run_python
from .owners import OWNER, left, start, sweep

FORKING = (
    OWNER
    + """
import multiprocessing, threading
def child():
    assert not d.save()
    d.close()
    with bridge.directory(DirectoryStore(sys.argv[1]), "own", scope="v1", root=sys.argv[2]) as own:
        (own.path / "x").write_text(str(os.getpid()))
    assert own.stats.saved_files == 1
for how in ("os._exit(0)", "sys.exit(0)"):
    pid = os.fork()
    if pid == 0:
        child()
        exec(how)
    assert os.waitpid(pid, 0)[1] == 0
    assert (d.path / "engine").read_bytes() == b"engine" and d.stats.saved_files == 0
process = multiprocessing.get_context("fork").Process(target=child)
process.start()
process.join()
assert process.exitcode == 0 and d.path.exists()
d.close()
print(d.stats.saved_files, os.listdir(sys.argv[2]))
"""
)


def test_a_forked_child_neither_removes_nor_saves_its_parents(tmp_path: Path, root: Path) -> None:
    need("linux", hasattr(os, "fork"))
    assert run_python(FORKING, tmp_path / "store", root).endswith("\n1 []\n")


SAVING = """
import threading
from ortcache.stores import MemoryStore
class Slow(MemoryStore):
    def put(self, key, value):
        begun.set()
        go_on.wait(30)
        super().put(key, value)
begun, go_on = threading.Event(), threading.Event()
with bridge.directory(Slow(), "slow", scope="v1", root=sys.argv[2]) as slow:
    (slow.path / "engine").write_bytes(b"engine")
    saving = threading.Thread(target=slow.save)
    saving.start()
    begun.wait(30)
    pid = os.fork()
    if pid:
        assert os.waitpid(pid, 0)[1] == 0
        go_on.set()
        saving.join()
    else:
        assert not slow.save()
if not pid:
    os._exit(0)
print(slow.stats.saved_files)
"""


def test_a_child_that_is_forked_while_another_thread_saves_does_not_hang(tmp_path: Path, root: Path) -> None:
    need("linux", hasattr(os, "fork"))
    quiet = {"PYTHONWARNINGS": "ignore::DeprecationWarning"}  # that a process that forks has threads
    assert run_python(OWNER + SAVING, tmp_path / "store", root, timeout=60, **quiet).endswith("\n1\n")
    assert left(root) == []


ORPHANING = """
if os.fork() == 0:
    print("child", flush=True)
    sys.stdin.read()
    os._exit(0)
os.kill(os.getpid(), 9)
"""


def test_a_living_child_of_a_dead_parent_protects_nothing(tmp_path: Path, root: Path) -> None:
    need("linux", hasattr(os, "fork"))
    process = start(OWNER + ORPHANING, tmp_path / "store", root)
    assert process.stdout is not None
    process.stdout.readline()
    assert process.stdout.readline() == "child\n"
    process.wait(30)
    sweep(root)
    assert left(root) == []
    process.communicate("")
