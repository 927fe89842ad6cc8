"""Directories of processes that end in every way, and of several at once."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from ortcache import bridge
from ortcache.bridge import private
from ortcache.stores import DirectoryStore, MemoryStore

from ..support.oracles import need
from ..support.process import run_python
from .owners import OWNER, left, start, sweep


def stored(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "store").iterdir() if ".directory." in path.name]


@pytest.mark.parametrize(
    ("end", "status", "saved"),
    [
        ("", 0, 1),
        ("sys.exit(0)", 0, 1),
        ("raise KeyError", 1, 0),
        ("d.close()", 0, 1),
        ("with d: raise KeyError", 1, 0),
        ("d.save(); raise KeyError", 1, 1),
        ("import atexit; atexit.register(d.close)", 0, 1),
        ("import threading; threading.Thread(target=time.sleep, args=(0.1,)).start()", 0, 1),
    ],
)
def test_nothing_is_left_at_the_end_of_a_process(tmp_path: Path, root: Path, end: str, status: int, saved: int) -> None:
    run_python(OWNER + end, tmp_path / "store", root, status=status, quiet=status == 0)
    assert left(root) == []
    assert len(stored(tmp_path)) == saved


OTHERS = """
from ortcache.stores import MemoryStore
class Broken(MemoryStore):
    def put(self, key, value):
        raise OSError(28, "no room")
stores = {"broken": Broken(), "good": DirectoryStore(sys.argv[1]), "full": Broken()}
for name, store in stores.items():
    other = bridge.directory(store, name, scope="v1", root=sys.argv[2], strict=True)
    (other.path / "engine").write_bytes(b"engine")
"""


def test_a_directory_that_fails_at_the_end_takes_none_of_the_others_along(tmp_path: Path, root: Path) -> None:
    _, said = start(OWNER + OTHERS, tmp_path / "store", root).communicate(timeout=60)
    assert said.count("OSError: [Errno 28] no room") == 2
    assert left(root) == []
    assert len(stored(tmp_path)) == 2


def test_what_a_killed_process_left_is_swept_and_what_a_living_one_has_is_kept(tmp_path: Path, root: Path) -> None:
    need("linux", sys.platform == "linux")
    living, dead = (start(OWNER + "sys.stdin.read()", tmp_path / "store", root) for _ in range(2))
    try:
        assert living.stdout is not None and dead.stdout is not None
        kept, gone = Path(living.stdout.readline().strip()), Path(dead.stdout.readline().strip())
        dead.kill()
        dead.wait(30)
        assert len(left(root)) == 2
        with bridge.directory(MemoryStore(), "other", scope="v1", root=root) as d:
            assert d.path is not None
            (d.path / "x").write_bytes(b"x")
            assert not gone.parent.exists() and (kept / "engine").read_bytes() == b"engine"
        assert left(root) == [kept.parent.name]
    finally:
        for process in (living, dead):
            process.communicate("")
    assert living.returncode == 0
    assert left(root) == []


def test_a_process_number_that_is_in_use_again_protects_nothing(root: Path) -> None:
    d = private.PrivateDirectory(root, lambda: None)
    d.forget()  # as if its process were gone: this one has its number
    private._live.discard(d)
    assert f"-{os.getpid()}-" in left(root)[0]
    sweep(root)
    assert left(root) == []


def test_a_directory_that_is_being_made_is_left_alone(root: Path) -> None:
    (root / f"{private._prefix()}1-new").mkdir()
    sweep(root)
    assert len(left(root)) == 1
    os.utime(root / f"{private._prefix()}1-new", (0, 0))
    sweep(root)
    assert left(root) == []


def test_what_is_not_a_directory_of_ours_is_left_alone(tmp_path: Path, root: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lock").write_bytes(b"")
    (outside / "precious").write_bytes(b"")
    (root / f"{private._prefix()}1-link").symlink_to(outside)
    (root / f"{private._prefix()}1-file").write_bytes(b"")
    (root / "ortcache-mine").mkdir()
    (root / "ortcache-4242-1-other").mkdir()
    sweep(root)
    assert len(left(root)) == 4 and (outside / "precious").exists()


def test_links_in_what_is_swept_are_not_followed(tmp_path: Path, root: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_bytes(b"")
    d = private.PrivateDirectory(root, lambda: None)
    (d.path / "link").symlink_to(precious)
    d.remove()
    assert left(root) == [] and (precious / "file").exists()


#: A provider that writes an engine and the profile that belongs to it, each with the writer's number, and one that
#: reads them: what belongs together must be of one writer.
PAIRS = """
import os, sys, time, warnings
from ortcache import bridge
from ortcache.stores.url import open_store
number, deadline = sys.argv[3], time.monotonic() + float(sys.argv[4])
store, turn, mixed = open_store(sys.argv[1]), 0, 0
while time.monotonic() < deadline:
    turn += 1
    with bridge.directory(store, "fake", scope="v1", root=sys.argv[2]) as d:
        engine, profile = d.path / "model.engine", d.path / "model.profile"
        if engine.exists() or profile.exists():
            mixed += engine.read_bytes()[:20] != profile.read_bytes()[:20]
        mark = f"{number}-{turn}".ljust(20).encode()
        engine.write_bytes(mark + os.urandom(200_000))
        profile.write_bytes(mark)
assert d.stats.failed == 0
print(turn, mixed)
"""


def pairs(place: str, root: Path, seconds: float) -> list[tuple[int, int]]:
    processes = [start(PAIRS, place, root, number, seconds) for number in range(8)]
    results = []
    for process in processes:
        out, said = process.communicate(timeout=120)
        assert process.returncode == 0, said
        turns, mixed = out.split()
        results.append((int(turns), int(mixed)))
    return results


@pytest.mark.parametrize("kind", ["directory", "sqlite"])
def test_engine_and_profile_of_different_writers_never_mix(tmp_path: Path, root: Path, kind: str) -> None:
    place = {"directory": str(tmp_path / "store"), "sqlite": f"sqlite:///{tmp_path / 'store.db'}"}[kind]
    results = pairs(place, root, 3.0)
    assert all(turns > 0 for turns, _ in results) and sum(turns for turns, _ in results) > 20
    assert sum(mixed for _, mixed in results) == 0
    assert left(root) == []


def test_killed_writers_leave_whole_sets_and_no_directory(tmp_path: Path, root: Path) -> None:
    for turn in range(6):
        process = start(PAIRS, tmp_path / "store", root, turn, 60)
        time.sleep(0.25 + 0.05 * turn)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    with bridge.directory(DirectoryStore(tmp_path / "store"), "x", scope="v1", root=root) as d:
        assert d.path is not None
        (d.path / "x").write_bytes(b"x")
    assert left(root) == []
    assert pairs(str(tmp_path / "store"), root, 1.0)[0][1] == 0


UNSTABLE = """
import os, sys, warnings
from ortcache import bridge
from ortcache.stores import DirectoryStore
warnings.simplefilter("ignore")
with bridge.directory(DirectoryStore(sys.argv[1]), "fake", scope="v1", root=sys.argv[2]) as d:
    (d.path / f"engine_{os.getpid()}.engine").write_bytes(b"x" * 1000)
print(len([key for key in DirectoryStore(sys.argv[1]).keys() if ".directory." in key]))
"""


def test_the_number_of_entries_is_the_same_however_many_processes_run(tmp_path: Path, root: Path) -> None:
    assert [run_python(UNSTABLE, tmp_path / "store", root) for _ in range(5)] == ["1\n"] * 5


def test_by_default_it_is_in_memory_or_the_temporary_folder_and_nowhere_else(tmp_path: Path) -> None:
    code = OWNER.replace(", root=sys.argv[2]", "") + "d.close()\nprint(sorted(os.listdir()))"
    here, temporary = tmp_path / "here", tmp_path / "temporary é 型"
    for folder in (here, temporary):
        folder.mkdir()
    code = "import os, sys; os.chdir(sys.argv[2])\n" + code
    out = run_python(code, tmp_path / "store", here, TMPDIR=str(temporary), XDG_RUNTIME_DIR="").splitlines()
    assert Path(out[0]).is_relative_to("/dev/shm") or Path(out[0]).is_relative_to(temporary)
    assert out[1] == "[]" and list(here.iterdir()) == list(temporary.iterdir()) == []
    assert not Path(out[0]).exists()
