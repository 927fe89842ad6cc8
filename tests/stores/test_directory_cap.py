"""The cap of a directory: the files' times, and what others do in it."""

from __future__ import annotations

import errno
import os
import random
import sys
import time
from pathlib import Path

import pytest

from ortcache.stores import DirectoryStore, eviction
from ortcache.stores.eviction import RESOLUTION, SHARE

from ..support.oracles import need
from ..support.process import start_python

#: Puts values of 1000 bytes for some seconds, and says how large it ever saw the directory.
FILLER = """
import random, sys, time
from ortcache.stores import DirectoryStore
store = DirectoryStore(sys.argv[1], max_size=int(sys.argv[2]))
print("ready", flush=True)
sys.stdin.readline()
rng, largest, end = random.Random(sys.argv[3]), 0, time.monotonic() + 2
while time.monotonic() < end:
    for _ in range(20):
        store.put(f"k{rng.randrange(100_000)}", bytes(1000))
        store.get(f"k{rng.randrange(100_000)}")
    largest = max(largest, sum(entry.size for entry in store.entries()))
print(largest)
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def used(path: Path, seconds_ago: float) -> None:
    then = time.time() - seconds_ago
    os.utime(path, (then, then))


def test_without_a_cap_a_get_writes_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DirectoryStore(root)
    store.put("key", b"x")
    used(root / "key", 1e6)
    before = (root / "key").stat(), root.stat().st_mtime_ns
    calls: list[object] = []
    monkeypatch.setattr(os, "utime", lambda *args, **kwargs: calls.append(args))
    for _ in range(3):
        assert store.get("key") == b"x"
        assert store.get("none") is None
    after = (root / "key").stat(), root.stat().st_mtime_ns
    assert (before[0].st_mtime_ns, before[0].st_ctime_ns, before[1]) == (
        after[0].st_mtime_ns, after[0].st_ctime_ns, after[1]
    )  # fmt: skip
    assert calls == []


def test_a_use_is_written_where_the_time_that_is_there_is_old(root: Path) -> None:
    store = DirectoryStore(root, max_size="1M")
    store.put("key", b"x")
    times = []
    for ago in (RESOLUTION - 10, RESOLUTION + 10, -RESOLUTION - 10):
        used(root / "key", ago)
        before = (root / "key").stat().st_mtime
        assert store.get("key") == b"x"
        times.append(((root / "key").stat().st_mtime - before, time.time() - (root / "key").stat().st_mtime))
    assert times[0][0] == 0  # new enough
    assert times[1][0] > RESOLUTION and abs(times[1][1]) < 5
    assert times[2][0] < -RESOLUTION and abs(times[2][1]) < 5  # a time to come is as wrong


def test_a_file_whose_time_cannot_be_set_is_read_and_put_all_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = DirectoryStore(root, max_size=100)
    store.put("key", b"x")
    used(root / "key", 1e6)

    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "utime", refuse)
    assert store.get("key") == b"x"
    store.put("key", b"y")
    store.put("large", bytes(100))
    assert (store.get("key"), store.get("large")) == (None, bytes(100))


def test_times_that_somebody_else_set(root: Path) -> None:
    store = DirectoryStore(root)
    for key, ago in (("future", -1e8), ("old", 100), ("older", 200), ("oldest", 300)):
        store.put(key, b"x" * 100)
        used(root / key, ago)
    capped = DirectoryStore(root, max_size=400)
    capped.put("a", b"x" * 100)
    capped.put("b", b"x" * 100)
    capped.put("c", b"x" * 100)
    assert sorted(capped.keys()) == ["a", "b", "c", "future"]
    capped.put("d", b"x" * 100)
    assert sorted(capped.keys()) == ["a", "b", "c", "d"]  # a time to come counts as now, and now is over
    assert all(entry.used is not None and entry.used <= time.time() for entry in capped.entries())


def test_what_another_process_used_meanwhile_is_not_what_makes_room(root: Path) -> None:
    store = DirectoryStore(root, max_size=4000)
    for key in ("a", "b", "c", "d"):
        store.put(key, b"x" * 1000)
        used(root / key, 1000)
    store = DirectoryStore(root, max_size=4000)
    store.put("small", b"")  # it has looked at the directory
    DirectoryStore(root, max_size=4000).get("a")
    store.put("e", b"x" * 10)
    assert (root / "a").exists()
    assert sorted(store.keys())[0] == "a"
    assert len(list(store.keys())) == 5


def test_what_others_deleted_or_put_is_noticed_within_the_stated_share(root: Path) -> None:
    store, other = DirectoryStore(root, max_size=16_000), DirectoryStore(root)
    for number in range(16):
        store.put(f"k{number}", bytes(1000))
    for number in range(4):
        other.delete(f"k{number}")  # the least recently used: there is nothing left to remove
    told: list[str] = []
    store.on_evict = lambda key, size: told.append(key)
    store.put("new", bytes(1000))
    assert told == []
    for number in range(20):
        other.put(f"o{number}", bytes(1000))
    store.put("newer", bytes(999))
    store.put("newest", bytes(1))
    assert sum(entry.size for entry in store.entries()) <= 16_000


def test_a_value_that_is_a_share_of_the_cap_is_put_with_a_look_at_what_others_put(root: Path) -> None:
    store, other = DirectoryStore(root, max_size=16_000), DirectoryStore(root, max_size=16_000)
    store.put("small", b"")  # it has looked at the directory
    other.put("theirs", bytes(16_000))
    store.put("large", bytes(8000))
    assert list(store.keys()) == ["large"]
    other.put("theirs", bytes(8000))
    store.put("blind", bytes(999))
    assert sum(entry.size for entry in store.entries()) == 16_999  # less than a share more than the cap
    store.put("seeing", bytes(1))
    assert sum(entry.size for entry in store.entries()) <= 16_000


def test_a_value_that_is_removed_while_it_is_read_is_read_to_its_end(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    need("linux", sys.platform == "linux")  # nothing that is open is removed elsewhere
    store, other = DirectoryStore(root, max_size=2_000_000), DirectoryStore(root, max_size=2_000_000)
    value = bytes(range(250)) * 8000
    store.put("key", value)
    opened = os.fdopen

    def late(*args: object, **kwargs: object) -> object:
        other.put("new", bytes(1_500_000))
        assert not (root / "key").exists()
        return opened(*args, **kwargs)  # type: ignore[call-overload]

    with monkeypatch.context() as patched:
        patched.setattr(os, "fdopen", late)
        assert store.get("key") == value
    assert store.get("key") is None


def test_a_file_that_no_store_made_does_not_make_room(root: Path) -> None:
    need("linux", sys.platform == "linux")  # elsewhere files may have no such modes
    root.mkdir(mode=0o700)
    (root / "thesis.txt").write_bytes(bytes(1000))
    used(root / "thesis.txt", 1e6)
    (root / "thesis.txt").chmod(0o644)
    DirectoryStore(root).put("earlier", bytes(60))
    store, told = DirectoryStore(root, max_size=100), []
    store.on_evict = lambda key, size: told.append(key)
    for number in range(30):
        store.put(f"k{number}", bytes(50))
    assert told[0] == "earlier"
    assert sorted(store.keys()) == ["k28", "k29", "thesis.txt"]


@pytest.mark.parametrize("code", [errno.EBUSY, errno.ENOENT, errno.EACCES])
def test_what_cannot_be_removed_is_passed_over(root: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    store, told = DirectoryStore(root, max_size=300), []
    store.on_evict = lambda key, size: told.append(key)
    for key in ("a", "b", "c"):
        store.put(key, bytes(100))
    unlink = Path.unlink

    def refuse(self: Path, **options: bool) -> None:
        if self.name == "a":
            raise OSError(code, "refused")
        unlink(self, **options)

    monkeypatch.setattr(Path, "unlink", refuse)
    store.put("d", bytes(100))
    if code == errno.ENOENT:  # somebody else did
        assert told == []
        return
    assert told == ["b"]
    store.put("e", bytes(300))  # nothing more can be done
    assert told == ["b", "c", "d"]
    assert sorted(store.keys()) == ["a", "e"]
    monkeypatch.undo()
    store.put("f", bytes(100))
    assert "f" in store.keys()  # noqa: SIM118
    assert sum(entry.size for entry in store.entries()) <= 300


def test_the_directory_is_looked_at_once_for_a_share_of_the_cap(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looks = []
    scan = eviction.scan
    monkeypatch.setattr(eviction, "scan", lambda *of: (looks.append(of), scan(*of))[1])
    store = DirectoryStore(root, max_size=160_000)
    for number in range(400):
        store.put(f"k{number}", bytes(1000))
        store.get(f"k{number // 2}")
    assert len(looks) == pytest.approx(400_000 / (160_000 * SHARE), abs=2)
    assert len(list(store.keys())) == 160


def test_processes_together_keep_the_cap_as_closely_as_it_says(root: Path) -> None:
    cap, number = 200_000, 4
    fillers = [start_python(FILLER, root, cap, seed) for seed in range(number)]
    try:
        for filler in fillers:
            assert filler.stdout is not None and filler.stdin is not None
            assert filler.stdout.readline() == "ready\n", filler.communicate()
        for filler in fillers:
            assert filler.stdin is not None
            filler.stdin.write("go\n")
            filler.stdin.flush()
        told = [filler.communicate(timeout=60) for filler in fillers]
    finally:
        for filler in fillers:
            filler.kill()
            filler.communicate()
    assert [err for _, err in told] == [""] * number
    assert max(int(out) for out, _ in told) <= cap * (1 + number * SHARE)
    store, rng = DirectoryStore(root, max_size=cap), random.Random(1)
    for _ in range(3):
        store.put(f"k{rng.randrange(9)}", bytes(1000))
    assert cap * 0.9 < sum(entry.size for entry in store.entries()) <= cap
