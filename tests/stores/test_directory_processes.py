"""One directory and several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ortcache.stores import DirectoryStore, temporary

from ..support.oracles import ROOT

#: Puts values of one letter each, over and over, and says when it begins.
WRITER = """
import sys
from ortcache.stores import DirectoryStore
store = DirectoryStore(sys.argv[1])
times, letter = int(sys.argv[2]), sys.argv[3].encode()
print("begun", flush=True)
for turn in range(times):
    store.put("shared", letter * (100_000 + turn % 7))
    store.put(f"own-{sys.argv[3]}", letter * 1000)
    if turn % 5 == 4:
        store.delete(f"own-{sys.argv[3]}")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


def start(root: Path, times: int, letter: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(root), str(times), letter],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def whole(value: bytes) -> bool:
    return len(set(value)) == 1 and (len(value) == 1000 or 100_000 <= len(value) < 100_007)


def test_processes_at_once_never_see_half_a_value(root: Path) -> None:
    store = DirectoryStore(root)
    processes = [start(root, 120, letter) for letter in "abc"]
    seen = 0
    while any(process.poll() is None for process in processes):
        for key in list(store.keys()):
            value = store.get(key)
            assert value is None or whole(value)
            seen += value is not None
    assert [process.wait(30) for process in processes] == [0, 0, 0]
    for process in processes:
        process.communicate()
    assert seen > 0
    assert {path.name for path in root.iterdir()} <= {"shared", "own-a", "own-b", "own-c"}


def test_temporary_names_are_unique_and_tell_the_process(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = DirectoryStore(root)
    names: list[str] = []
    replace = os.replace

    def watched(path: Path, target: Path) -> None:
        names.append(path.name)
        assert list(store.keys()) in ([], ["key"])  # it is there now, and not listed
        assert path.stat().st_mode & 0o077 == 0
        replace(path, target)

    monkeypatch.setattr(os, "replace", watched)
    for _ in range(50):
        store.put("key", b"x")
    assert len(set(names)) == 50
    assert all(name.startswith(f".tmp-{os.getpid()}-") for name in names)


def test_a_temporary_name_that_is_taken_is_not_written_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("secrets.token_hex", lambda size: "0" * (2 * size))
    store = DirectoryStore(root)
    monkeypatch.setattr(temporary, "_machine", lambda: "a" * 8)
    taken = root / f".tmp-{os.getpid()}-{'a' * 8}-{'0' * 16}"
    taken.write_bytes(b"somebody else's")
    with pytest.raises(FileExistsError):
        store.put("key", b"x")
    assert taken.read_bytes() == b"somebody else's"
    assert store.get("key") is None


def test_a_value_is_on_the_disk_before_it_has_its_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, steps = DirectoryStore(root), []
    fsync, replace = os.fsync, os.replace

    def watched_fsync(file: int) -> None:
        steps.append(("fsync", os.fstat(file).st_size))
        fsync(file)

    def watched_replace(path: Path, target: Path) -> None:
        steps.append(("replace", path.stat().st_size))
        replace(path, target)

    monkeypatch.setattr(os, "fsync", watched_fsync)
    monkeypatch.setattr(os, "replace", watched_replace)
    store.put("key", b"x" * 12345)
    assert steps[:2] == [("fsync", 12345), ("replace", 12345)]
