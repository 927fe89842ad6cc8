"""Temporary files: a writer's own while it lives, and swept when it is dead."""

from __future__ import annotations

import errno
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ortcache.stores import DirectoryStore, temporary
from ortcache.stores.sqlite import SqliteStore
from ortcache.stores.temporary import Temporary, sweep

from ..support.oracles import need
from ..support.process import start_python

#: Begins a temporary file in the folder and holds it.
WRITER = """
import sys
from pathlib import Path
from ortcache.stores.temporary import Temporary
with Temporary(Path(sys.argv[1])) as file:
    file.write(memoryview(b"half"))
    print(file.path.name, flush=True)
    sys.stdin.readline()
    file.publish(Path(sys.argv[1]) / "key")
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "store").mkdir(mode=0o700)
    return tmp_path / "store"


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def age(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


def left_behind(root: Path, machine: str) -> Path:
    path = root / f".tmp-1-{machine}-0123456789abcdef"
    path.write_bytes(b"half")
    return path


def test_a_live_writers_file_stays_however_old_it_is_and_a_killed_ones_goes(root: Path) -> None:
    need("linux", sys.platform == "linux")
    with start_python(WRITER, root) as writer, start_python(WRITER, root) as victim:
        assert writer.stdout is not None and victim.stdout is not None
        kept, lost = writer.stdout.readline().strip(), victim.stdout.readline().strip()
        for name in (kept, lost):
            age(root / name, 1e6)
        DirectoryStore(root)
        assert files(root) == sorted([kept, lost])
        victim.send_signal(signal.SIGKILL)
        victim.wait(30)
        store = DirectoryStore(root)
        assert files(root) == [kept]
        assert list(store.keys()) == []
        assert writer.communicate("go\n", timeout=30) == ("", "")
    assert files(root) == ["key"]
    assert store.get("key") == b"half"


def test_a_process_number_that_is_taken_again_does_not_keep_it(root: Path) -> None:
    need("linux", sys.platform == "linux")
    path = root / f".tmp-{os.getpid()}-{temporary._machine()}-0123456789abcdef"
    path.write_bytes(b"half")
    DirectoryStore(root)
    assert files(root) == []


def test_another_machines_file_goes_when_it_is_old(root: Path) -> None:
    path = left_behind(root, "feedbeef")
    DirectoryStore(root)
    assert files(root) == [path.name]
    age(path, 3500)
    DirectoryStore(root)
    assert files(root) == [path.name]
    age(path, 3700)
    DirectoryStore(root)
    assert files(root) == []


def test_where_there_are_no_locks_the_age_decides(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("linux", sys.platform == "linux")

    def refuse(*args: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    path = left_behind(root, temporary._machine())
    DirectoryStore(root).put("key", b"x")
    assert files(root) == [path.name, "key"]
    age(path, 3700)
    DirectoryStore(root)
    assert files(root) == ["key"]


def test_a_file_that_is_swept_before_it_is_locked_is_begun_again(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("linux", sys.platform == "linux")
    lock, swept = temporary._lock, []

    def late(file: int) -> bool | None:
        if not swept:
            swept.extend(files(root))
            with monkeypatch.context() as undone:
                undone.setattr(temporary, "_lock", lock)
                DirectoryStore(root)
        return lock(file)

    store = DirectoryStore(root)
    monkeypatch.setattr(temporary, "_lock", late)
    store.put("key", b"value")
    assert len(swept) == 1
    assert files(root) == ["key"]
    assert store.get("key") == b"value"


def test_only_files_with_such_names_are_swept(root: Path) -> None:
    names = [".tmp-", ".tmp-1-abc", ".tmp-x-00000000-0123456789abcdef", "tmp-1-00000000-0123456789abcdef", ".other"]
    for name in names:
        (root / name).write_bytes(b"x")
        age(root / name, 1e6)
    folder = root / ".tmp-1-00000000-aaaaaaaaaaaaaaaa"
    folder.mkdir()
    (root / ".tmp-1-00000000-bbbbbbbbbbbbbbbb").symlink_to(root / ".other")
    DirectoryStore(root)
    assert files(root) == sorted([*names, folder.name, ".tmp-1-00000000-bbbbbbbbbbbbbbbb"])


@pytest.mark.parametrize("code", [errno.EBUSY, errno.ENOENT, errno.EACCES, errno.EROFS])
def test_what_cannot_be_removed_is_left(root: Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    paths = [left_behind(root, "feedbeef"), root / ".tmp-2-feedbeef-0123456789abcdef"]
    paths[1].write_bytes(b"x")
    for path in paths:
        age(path, 1e6)
    tried: list[Path] = []

    def refuse(self: Path, **options: Any) -> None:
        tried.append(self)
        raise OSError(code, "refused")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refuse)
        DirectoryStore(root).put("key", b"x")
    assert sorted(tried) == sorted(paths)
    DirectoryStore(root)
    assert files(root) == ["key"]


def test_a_full_look_for_room_sweeps_too(root: Path) -> None:
    need("linux", sys.platform == "linux")
    store = DirectoryStore(root, max_size=100)
    left_behind(root, temporary._machine())
    store.put("key", b"x")
    assert files(root) == ["key"]


def test_a_database_that_was_being_made_is_swept(root: Path) -> None:
    need("linux", sys.platform == "linux")
    left_behind(root, temporary._machine())
    with SqliteStore(root / "cache.db"):
        pass
    assert files(root) == ["cache.db"]


def test_nothing_is_left_open(root: Path) -> None:
    need("linux", sys.platform == "linux")
    before = len(list(Path("/proc/self/fd").iterdir()))
    store = DirectoryStore(root, max_size=1000)
    for turn in range(30):
        store.put(f"k{turn}", bytes(100))
        left_behind(root, temporary._machine())
        sweep(root, [path.name for path in root.iterdir()])
    with pytest.raises(KeyboardInterrupt), Temporary(root):
        raise KeyboardInterrupt
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert not any(name.startswith(".tmp-") for name in files(root))
