"""Where a directory is made."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest

import ortcache as oc
from ortcache import bridge
from ortcache.bridge import places
from ortcache.stores import MemoryStore

from ..support.oracles import need


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in memory of the test's own."""
    shared = Path("/dev/shm")
    need("linux", places._is_memory(shared) and os.access(shared, os.W_OK))
    folder = Path(tempfile.mkdtemp(dir=shared))
    monkeypatch.setattr(places, "_in_memory", lambda: iter([folder]))
    return folder


def test_memory_comes_first_where_there_is_room(memory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        assert places.choose_root(1 << 20) == memory
        assert places.choose_root(1 << 60) == tmp_path
        assert places.roots() == [memory, tmp_path]
    finally:
        memory.rmdir()


def test_the_room_that_a_user_asks_for_decides(memory: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    try:
        for room, root in (("1M", memory), ("900000G", tmp_path)):
            with bridge.directory(MemoryStore(), "fake", scope="v1", room=room) as d:
                assert d.path is not None and d.path.is_relative_to(root)
                (d.path / "x").write_bytes(b"x")
        assert list(memory.iterdir()) == list(tmp_path.iterdir()) == []
    finally:
        memory.rmdir()


def test_a_folder_on_a_disk_is_not_taken_for_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A container may have an ordinary folder at /dev/shm."""
    need("linux", not places._is_memory(tmp_path))
    monkeypatch.setattr(places, "_in_memory", lambda: iter([tmp_path]))
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(other))
    assert places.choose_root(1) == other


def test_the_runtime_folder_is_looked_at_where_it_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert list(places._in_memory()) == [Path("/dev/shm"), tmp_path]
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative")
    assert list(places._in_memory()) == [Path("/dev/shm")]


def test_the_working_directory_is_no_temporary_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is what Python falls back to where no folder can be written to."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(places, "_in_memory", lambda: iter(()))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.delenv("TMPDIR", raising=False)
    assert places.choose_root(1) is None
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert places.choose_root(1) == tmp_path

    def none() -> str:
        raise FileNotFoundError("No usable temporary directory found")

    monkeypatch.setattr(tempfile, "gettempdir", none)
    assert places.choose_root(1) is None and places.roots() == []


def test_a_folder_that_others_can_tamper_with_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("linux", os.name == "posix")
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    with pytest.raises(oc.InputError, match="no sticky bit"):
        bridge.directory(MemoryStore(), "fake", scope="v1", root=open_to_all)
    monkeypatch.setattr(places, "_in_memory", lambda: iter(()))
    monkeypatch.setattr(tempfile, "tempdir", str(open_to_all))
    assert places.choose_root(1) is None
    open_to_all.chmod(0o1777)
    assert places.choose_root(1) == open_to_all


@pytest.mark.parametrize("make", [lambda path: None, lambda path: path.write_bytes(b"")])
def test_a_root_that_is_no_folder_is_refused(tmp_path: Path, make: object) -> None:
    place = tmp_path / "place"
    make(place)  # type: ignore[operator]
    with pytest.raises(oc.InputError, match="cannot hold a private directory"):
        bridge.directory(MemoryStore(), "fake", scope="v1", root=place)


def test_a_root_of_any_characters_works(tmp_path: Path) -> None:
    root = tmp_path / "缓存 mémoire ü"
    root.mkdir()
    store = MemoryStore()
    for turn in range(2):
        with bridge.directory(store, "fake", scope="模型 é", root=root) as d:
            assert d.path is not None and d.path.is_relative_to(root) and d.stats.hits == turn
            (d.path / "x").write_bytes(b"x")
    assert list(root.iterdir()) == []
