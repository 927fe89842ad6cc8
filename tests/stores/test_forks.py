"""Forks: a child uses no lock and no connection of its parent's."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ..support.oracles import need
from ..support.process import run_python

#: A process whose threads use the store, and that forks meanwhile; each child uses the store, and so does a grandchild.
FORKS = """
import os, sys, threading, time
from ortcache.stores import DirectoryStore, MemoryStore
from ortcache.stores.sqlite import SqliteStore
kind, folder, forks = sys.argv[1], sys.argv[2], int(sys.argv[3])
store = {
    "memory": lambda: MemoryStore(max_size=3_000_000),
    "directory": lambda: DirectoryStore(folder + "/store", max_size=3_000_000),
    "sqlite": lambda: SqliteStore(folder + "/store.db", max_size=3_000_000, timeout=60),
}[kind]()
store.put("before", b"x")
done, problems = threading.Event(), []

def use(letter):
    try:
        while not done.is_set():
            store.put(letter, letter.encode() * 300_000)
            assert store.get(letter) == letter.encode() * 300_000
            list(store.keys())
    except BaseException as error:
        problems.append(error)

def work(turn):
    for key in ("a", "b", "c", "d"):
        value = store.get(key)
        assert value is None or value == key.encode() * 300_000
    store.put(f"child{turn}", b"c" * 1000)
    assert store.get(f"child{turn}") == b"c" * 1000
    workers = [threading.Thread(target=store.put, args=(f"own{n}", b"o" * 1000)) for n in range(2)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    assert {"before", f"child{turn}"} <= set(store.keys())

def child(turn):
    work(turn)
    if os.fork() == 0:
        work(turn)
        os._exit(0)
    assert os.wait()[1] == 0

threads = [threading.Thread(target=use, args=(letter,)) for letter in "abcd"]
for thread in threads: thread.start()
children = []
for turn in range(forks):
    time.sleep(0.003 * (turn % 5))
    pid = os.fork()
    if pid == 0:
        try:
            child(turn)
            os._exit(0)
        except BaseException as error:
            os.write(2, repr(error).encode())
            os._exit(1)
    children.append(pid)
end = time.monotonic() + 90
states = []
for pid in children:
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found: break
        if time.monotonic() > end:
            os.kill(pid, 9)
            status = os.waitpid(pid, 0)[1]
            break
        time.sleep(0.01)
    states.append(status)
done.set()
for thread in threads: thread.join()
assert not problems, problems
if kind != "memory":
    assert {f"child{turn}" for turn in range(forks)} <= set(store.keys())
print(states.count(0))
"""


@pytest.mark.parametrize("kind", ["memory", "directory", "sqlite"])
def test_a_process_that_forks_while_its_threads_use_a_store(kind: str, tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    told = run_python(FORKS, kind, tmp_path, 12, PYTHONWARNINGS="ignore::DeprecationWarning")
    assert told == "12\n"


def test_a_child_has_no_connection_of_its_parents(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    told = run_python(
        """
        import os, sys
        from pathlib import Path
        from ortcache.stores.sqlite import SqliteStore
        def open_files():
            links = []
            for entry in Path("/proc/self/fd").iterdir():
                try: links.append(entry.readlink().name)
                except OSError: pass
            return sorted(name for name in links if name.startswith("store.db"))
        store = SqliteStore(sys.argv[1] + "/store.db")
        store.put("key", b"x")
        print(open_files(), flush=True)
        if os.fork() == 0:
            print(open_files(), flush=True)
            assert store.get("key") == b"x"
            store.put("key", b"y")
            os._exit(0)  # without closing anything
        os.wait()
        print(store.get("key"), flush=True)
        store.close()
        if os.fork() == 0:
            try: store.get("key")
            except Exception as error: print(type(error).__name__, flush=True)
            os._exit(0)
        os.wait()
        """,
        tmp_path,
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    assert told == "['store.db', 'store.db-shm', 'store.db-wal']\n[]\nb'y'\nClosedError\n"


def test_a_fork_in_a_put_of_the_same_thread_goes_on(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    told = run_python(
        """
        import os, sys
        from ortcache.stores import DirectoryStore, MemoryStore
        from ortcache.stores.sqlite import SqliteStore
        def forks(key, size):
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            print(os.waitpid(pid, 0)[1], end=" ")
        for store in (MemoryStore(max_size=10), DirectoryStore(sys.argv[1] + "/d", max_size=10),
                      SqliteStore(sys.argv[1] + "/s.db", max_size=10)):
            store.on_evict = forks
            store.put("a", bytes(10))
            store.put("b", bytes(10))
        """,
        tmp_path,
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    assert told == "0 0 0 "


#: A process that forks while another thread is in the middle of something under each lock.
LOCKED = """
import os, signal, threading, time
from ortcache.epcache import CacheCallbacks
from ortcache.stores import Counted, Level, MemoryStore, Tiered, Verified
from ortcache.stores.guarded import Guarded
memory = MemoryStore()
memory.put("damaged", b"ORTSEAL")
counted, verified, guarded = Counted(memory), Verified(memory), Guarded(memory)
tiered = Tiered([Level(memory, name="first")])
cache = CacheCallbacks({}.get, None)
guarded._reading._failed(OSError("away"))
uses = [
    (memory._lock, lambda: memory.get("key")),
    (counted._lock, lambda: counted.get("key")),
    (tiered._levels["first"]._lock, lambda: tiered.get("key")),
    (verified._lock, lambda: verified.get("damaged")),
    (guarded._reading._lock, lambda: guarded._reading.open),
    (cache._lock, lambda: cache.read("key")),
]
for lock, use in uses:
    inside = threading.Event()
    def hold():
        with lock:
            inside.set()
            time.sleep(0.1)
    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    pid = os.fork()
    if pid == 0:
        signal.alarm(10)  # ends a child that waits for ever
        use()
        os._exit(0)
    print(os.waitpid(pid, 0)[1], end=" ")
    thread.join()
"""


def test_no_child_waits_for_a_lock_that_another_thread_of_its_parent_held() -> None:
    need("linux", sys.platform == "linux")
    told = run_python(LOCKED, PYTHONWARNINGS="ignore::DeprecationWarning", quiet=False)
    assert told == "0 0 0 0 0 0 "


def test_a_fork_while_another_thread_opens_a_store_goes_on(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    told = run_python(
        """
        import os, pathlib, signal, sys, threading
        from ortcache.stores.late import LateStore
        signal.alarm(20)
        opening, forking = threading.Event(), threading.Event()
        make = pathlib.Path.mkdir
        def slow(self, *args, **how):
            opening.set()
            forking.wait(0.5)
            return make(self, *args, **how)
        pathlib.Path.mkdir = slow
        for turn, url in enumerate(("file://%s/d?max_size=1M", "sqlite:///%s/s/s.db")):
            opening.clear()
            store = LateStore(url % sys.argv[1])
            thread = threading.Thread(target=store.put, args=("key", b"x"))
            thread.start()
            opening.wait()
            pid = os.fork()
            if pid == 0:
                signal.alarm(20)
                store.put("child", b"y")
                os._exit(0)
            print(os.waitpid(pid, 0)[1], end=" ")
            thread.join()
            print(store.get("key"), store.get("child"))
        """,
        tmp_path,
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
    assert told == "0 b'x' b'y'\n0 b'x' b'y'\n"
