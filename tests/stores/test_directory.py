"""The store in a directory: what every store must do, and what is on the disk."""

from __future__ import annotations

import os
import stat
import sys
from pathlib import Path

import pytest

from ortcache.errors import InputError
from ortcache.stores import DirectoryStore, SqliteStore

from ..support.oracles import need
from .conformance import SAFE_KEYS
from .sharing import Sharing


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store"


@pytest.fixture
def store(root: Path) -> DirectoryStore:
    return DirectoryStore(root)


@pytest.fixture
def opening(root: Path) -> str:
    return f"from ortcache.stores import DirectoryStore; store = DirectoryStore({str(root)!r})"


class TestDirectoryStore(Sharing):
    """What every store must do."""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def files(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_a_store_opened_later_has_what_an_earlier_one_put(root: Path) -> None:
    DirectoryStore(root).put("key", b"value")
    assert DirectoryStore(str(root)).get("key") == b"value"
    assert list(DirectoryStore(root).keys()) == ["key"]


def test_the_root_and_its_parents_are_made(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "a" / "b" / "c")
    store.put("key", b"x")
    assert store.root == tmp_path / "a" / "b" / "c"


def test_a_relative_root_stays_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    store = DirectoryStore("here")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    store.put("key", b"x")
    assert files(tmp_path / "here") == ["key"]
    assert files(tmp_path / "elsewhere") == []


def test_only_the_user_may_read_whatever_the_umask(root: Path) -> None:
    need("linux", sys.platform == "linux")
    before = os.umask(0)
    try:
        store = DirectoryStore(root)
        store.put("key", b"x")
        store.put("key", b"again")
    finally:
        os.umask(before)
    assert (mode(root), mode(root / "key")) == (0o700, 0o600)


def test_names_do_not_collide_where_case_is_folded(store: DirectoryStore, root: Path) -> None:
    for key in SAFE_KEYS:
        store.put(key, b"x")
    names = files(root)
    assert len({name.casefold() for name in names}) == len(names) == len(SAFE_KEYS)
    assert max(map(len, names)) <= 255


def test_a_file_whose_name_is_no_key_is_not_listed_and_not_touched(store: DirectoryStore, root: Path) -> None:
    others = [".hidden", ".tmp-1-abc", "a b", "case^", "Upper", "lower^0", "x^zz", "aX^1", "con", "é", "end.", "a^2"]
    for name in others:
        (root / name).write_bytes(b"x")
    (root / "folder").mkdir()
    (root / "folder" / "inner").write_bytes(b"x")
    store.put("key", b"x")
    assert list(store.keys()) == ["key"]
    assert files(root) == sorted([*others, "folder", "key"])


def test_a_folder_in_the_place_of_a_value_is_a_miss_and_no_crash(store: DirectoryStore, root: Path) -> None:
    (root / "key").mkdir()
    assert store.get("key") is None
    assert list(store.keys()) == []
    with pytest.raises(OSError):
        store.put("key", b"x")
    assert files(root) == ["key"]  # no temporary file either


@pytest.mark.parametrize("target", ["file", "nothing", "folder", "itself", "value"])
def test_a_link_in_the_place_of_a_value_is_not_followed(
    store: DirectoryStore, root: Path, tmp_path: Path, target: str
) -> None:
    need("linux", sys.platform == "linux")
    outside = tmp_path / "outside"
    outside.write_bytes(b"secret")
    store.put("value", b"a value")
    places = {"file": outside, "nothing": tmp_path / "none", "folder": tmp_path, "itself": root / "key",
              "value": root / "value"}  # fmt: skip
    (root / "key").symlink_to(places[target])
    assert store.get("key") is None
    assert list(store.keys()) == ["value"]
    store.put("key", b"new")  # takes the link's place
    assert store.get("key") == b"new"
    assert not (root / "key").is_symlink()
    assert (outside.read_bytes(), store.get("value")) == (b"secret", b"a value")
    assert not (tmp_path / "none").exists()
    (root / "key").unlink()
    (root / "key").symlink_to(places[target])
    assert store.delete("key") is True  # the link, not what it leads to
    assert outside.read_bytes() == b"secret"


def test_a_pipe_in_the_place_of_a_value_does_not_hang(store: DirectoryStore, root: Path) -> None:
    need("linux", sys.platform == "linux")
    os.mkfifo(root / "key")
    assert store.get("key") is None
    assert list(store.keys()) == []


def test_a_root_that_is_a_link_is_refused(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(InputError, match="is a link: name the directory itself"):
        DirectoryStore(tmp_path / "link")
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    with pytest.raises(InputError, match="is a link: name the directory itself"):
        DirectoryStore(tmp_path / "dangling")
    assert not (tmp_path / "none").exists()


def test_a_root_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    for bits in (0o777, 0o1777, 0o702):
        tmp_path.chmod(bits)
        with pytest.raises(InputError, match="everybody may write"):
            DirectoryStore(tmp_path)
    tmp_path.chmod(0o755)
    assert DirectoryStore(tmp_path).get("key") is None


def test_a_root_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    need("linux", sys.platform == "linux")
    monkeypatch.setattr(os, "geteuid", lambda: tmp_path.stat().st_uid + 1)
    with pytest.raises(InputError, match="belongs to another user"):
        DirectoryStore(tmp_path)


def test_a_root_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="is no directory"):
        DirectoryStore(tmp_path / "file")
    with pytest.raises(InputError, match="is no directory"):
        SqliteStore(tmp_path / "file" / "store.db")
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.parametrize("made", [DirectoryStore, SqliteStore])
def test_what_is_no_path_is_refused(made: type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("", "a\0b"):
        with pytest.raises(InputError, match="is no path"):
            made(path)
    assert list(tmp_path.iterdir()) == []


def test_what_is_deleted_behind_its_back_is_a_miss(store: DirectoryStore, root: Path) -> None:
    store.put("key", b"x")
    (root / "key").unlink()
    assert store.get("key") is None
    assert store.delete("key") is False
    listing = iter(store.keys())
    assert list(listing) == []
    store.put("key", b"again")
    assert store.get("key") == b"again"


def test_a_root_deleted_behind_its_back(store: DirectoryStore, root: Path) -> None:
    store.put("key", b"x")
    (root / "key").unlink()
    root.rmdir()
    assert store.get("key") is None
    assert store.delete("key") is False
    with pytest.raises(FileNotFoundError):
        list(store.keys())
    with pytest.raises(FileNotFoundError):
        store.put("key", b"x")


def test_a_root_that_may_not_be_written_is_read_and_says_so(store: DirectoryStore, root: Path) -> None:
    store.put("key", b"x")

    def refuse(*args: object, **kwargs: object) -> int:
        raise PermissionError(13, "Permission denied")

    monkeypatch = pytest.MonkeyPatch()
    opened = os.open
    monkeypatch.setattr(
        os, "open", lambda path, flags, *rest: (refuse if flags & os.O_CREAT else opened)(path, flags, *rest)
    )
    try:
        assert store.get("key") == b"x"
        with pytest.raises(PermissionError):
            store.put("key", b"y")
    finally:
        monkeypatch.undo()
    assert store.get("key") == b"x"
    assert files(root) == ["key"]


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()])
@pytest.mark.parametrize("max_size", [None, "1M"])
def test_a_put_that_fails_leaves_the_old_value_and_no_temporary_file(
    root: Path, monkeypatch: pytest.MonkeyPatch, step: str, error: BaseException, max_size: str | None
) -> None:
    store = DirectoryStore(root, max_size=max_size)
    store.put("key", b"before")

    def fail(*args: object) -> None:
        raise error

    with monkeypatch.context() as patched:
        patched.setattr(os, step, fail)
        with pytest.raises(type(error)):
            store.put("key", b"after")
        with pytest.raises(type(error)):
            store.put("new", b"after")
    assert store.get("key") == b"before"
    assert files(root) == ["key"]
