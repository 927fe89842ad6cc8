"""What fails, and what then becomes of the run."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

import ortcache as oc
from ortcache import bridge
from ortcache.bridge import tree
from ortcache.errors import StoreError, StoreTimeoutError
from ortcache.stores import DirectoryStore, MemoryStore
from ortcache.stores.protocol import Buffer, Entry
from ortcache.stores.readonly import ReadOnly
from ortcache.stores.verified import Verified

from ..support.oracles import need


class Failing(MemoryStore):
    """Fails at what it is told to."""

    def __init__(self, *methods: str, error: Exception | None = None) -> None:
        super().__init__()
        self.methods = set(methods)
        self.error = error or StoreError("it is down")

    def _fail(self, method: str) -> None:
        if method in self.methods:
            raise self.error

    def get(self, key: str) -> bytes | None:
        self._fail("get")
        return super().get(key)

    def put(self, key: str, value: Buffer) -> None:
        self._fail("put")
        super().put(key, value)

    def delete(self, key: str) -> bool:
        self._fail("delete")
        return super().delete(key)

    def keys(self) -> Iterator[str]:
        self._fail("keys")
        return super().keys()

    def entries(self) -> Iterator[Entry]:
        self._fail("keys")
        return super().entries()


def run(store: object, text: bytes = b"built", **options: object) -> bridge.BridgedDirectory:
    with bridge.directory(store, "fake", **{"scope": "v1", **options}) as d:  # type: ignore[arg-type]
        assert d.path is not None
        if not (d.path / "engine").exists():
            (d.path / "engine").write_bytes(text)
    return d


def key(store: MemoryStore, kind: str = "directory") -> str:
    return next(key for key in store.keys() if f".{kind}." in key)  # noqa: SIM118


@pytest.mark.parametrize(
    "error",
    [StoreError("down"), StoreTimeoutError("slow"), OSError(errno.ENOSPC, "full"), oc.InputError("above the cap"),
     PermissionError("no"), RuntimeError("backend")],
    ids=lambda error: type(error).__name__,
)  # fmt: skip
@pytest.mark.parametrize("methods", [("get",), ("put",), ("keys",), ("get", "put", "delete", "keys")])
def test_a_store_that_fails_breaks_no_run(
    temporary: Path, error: Exception, methods: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    store = Failing(*methods, error=error)
    d = run(store)
    assert d.stats.misses == 1 and d.stats.failed >= 1
    assert str(error) in caplog.text
    store.methods.clear()
    assert run(store).stats.hits == ("put" not in methods)


@pytest.mark.parametrize("method", ["get", "put"])
def test_a_strict_directory_raises_what_the_store_does_and_is_removed(temporary: Path, method: str) -> None:
    store = Failing(method)
    with pytest.raises(StoreError, match="it is down"):
        run(store, strict=True)


def test_a_store_that_cannot_be_opened_breaks_no_run(temporary: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    place = tmp_path / "file" / "store"
    assert run(place).stats.saved_files == 0
    with pytest.raises((StoreError, OSError)):
        run(place, strict=True)
    with pytest.raises(oc.InputError):
        run("nosuchscheme://x")


def test_a_damaged_entry_never_reaches_the_provider_and_is_moved_aside(temporary: Path, store: MemoryStore) -> None:
    run(store)
    damaged = bytearray(store.get(key(store)) or b"")
    damaged[-1] ^= 1
    store.put(key(store), damaged)
    d = run(store, b"built again")
    assert (d.stats.misses, d.stats.hits, d.stats.quarantined, d.stats.saved_files) == (1, 0, 1, 1)
    assert store.get(key(store, "unusable")) == damaged
    assert run(store).stats.hits == 1


def test_damaged_entries_take_one_place(temporary: Path, store: MemoryStore) -> None:
    for turn in range(5):
        run(store, bytes([turn]))
        store.put(key(store), b"no pack" + bytes([turn]))
    assert run(store).stats.quarantined == 1
    assert len([name for name in store.keys() if ".unusable." in name]) == 1  # noqa: SIM118


def test_a_damaged_entry_in_a_read_only_directory_is_a_miss(temporary: Path, store: MemoryStore) -> None:
    run(store)
    store.put(key(store), b"no pack")
    before = {name: store.get(name) for name in store.keys()}  # noqa: SIM118
    stats = run(store, mode="r").stats
    assert (stats.misses, stats.hits) == (1, 0)
    assert run(ReadOnly(store)).stats.quarantined == 0
    assert {name: store.get(name) for name in store.keys()} == before  # noqa: SIM118


def test_an_entry_that_a_checked_store_finds_damaged_is_a_miss(temporary: Path, tmp_path: Path) -> None:
    store = Verified(DirectoryStore(tmp_path / "store"))
    run(store)
    file = next(path for path in (tmp_path / "store").iterdir() if ".directory." in path.name)
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    assert run(store).stats.misses == 1 and store.damaged == 1
    assert run(store).stats.hits == 1


def test_a_directory_that_cannot_be_removed_is_told_of_once_and_what_was_stored_stays(
    tmp_path: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A network file system says EBUSY for a file that is still open."""
    real = Path.unlink

    def unlink(path: Path, missing_ok: bool = False) -> None:
        if path.name == "engine":
            raise OSError(errno.EBUSY, os.strerror(errno.EBUSY), str(path))
        real(path, missing_ok)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "unlink", unlink)
        with pytest.warns(RuntimeWarning, match="could not be removed whole") as seen:
            run(store, root=tmp_path)
        assert len(seen) == 1
    left = [path for path in tmp_path.iterdir() if path.name.startswith("ortcache-")]
    assert len(left) == 1
    # The lock file is gone: it is old enough to be swept when nobody can be making it any more.
    os.utime(left[0], (0, 0))
    assert run(store, root=tmp_path).stats.hits == 1
    assert [path for path in tmp_path.iterdir() if path.name.startswith("ortcache-")] == []


def test_files_that_change_all_the_time_are_not_stored(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    real = tree.read_file

    def read(root: Path, name: str, into: memoryview) -> None:
        real(root, name, into)
        with (root / name).open("ab") as file:
            file.write(b"more")

    monkeypatch.setattr("ortcache.bridge.contents.read_file", read)
    monkeypatch.setattr("ortcache.bridge.contents._PAUSE", 0)
    assert run(store).stats.failed == 1
    assert "change while they are read" in caplog.text
    with pytest.raises(OSError, match="change while"):
        run(store, strict=True)


def test_unreadable_and_read_only_files_are_stored_and_removed(temporary: Path, store: MemoryStore) -> None:
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        (d.path / "sub" / "deeper").mkdir(parents=True)
        (d.path / "sub" / "deeper" / "engine").write_bytes(b"engine")
        (d.path / "profile").write_bytes(b"profile")
        (d.path / "profile").chmod(0)
        (d.path / "sub" / "deeper" / "engine").chmod(0o400)
        (d.path / "sub" / "deeper").chmod(0o500)
        (d.path / "sub").chmod(0)
    assert d.stats.saved_files == 2


def test_the_same_as_another_user_than_root(tmp_path: Path) -> None:
    need("root", os.name == "posix" and os.geteuid() == 0)
    from ..support.process import run_python

    shared = tmp_path
    for folder in (tmp_path, *tmp_path.parents):
        with contextlib.suppress(OSError):
            if folder.stat().st_uid == 0 and folder.name.startswith(("pytest", tmp_path.name)):
                folder.chmod(folder.stat().st_mode | 0o055)
    (shared / "root").mkdir()
    os.chown(shared / "root", 65534, 65534)
    out = run_python(
        """
        import os, sys
        from ortcache import bridge
        from ortcache.stores import MemoryStore
        with bridge.directory(MemoryStore(), "fake", scope="v1", root=sys.argv[2]) as d:
            (d.path / "engine").write_bytes(b"x")  # all is imported now, which this user may do
        os.setgroups([]); os.setgid(65534); os.setuid(65534)
        with bridge.directory(MemoryStore(), "fake", scope="v1", root=sys.argv[1]) as d:
            (d.path / "sub").mkdir()
            (d.path / "sub" / "engine").write_bytes(b"x")
            (d.path / "sub" / "engine").chmod(0)
            (d.path / "sub").chmod(0)
            (d.path / "gone").mkdir(mode=0o500)
        print(d.stats.saved_files, os.listdir(sys.argv[1]))
        """,
        shared / "root",
        shared,
    )
    assert out == "1 []\n"
