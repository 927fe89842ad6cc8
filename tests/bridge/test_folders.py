"""Folders that are full, or are not what they were."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from ortcache import bridge
from ortcache.bridge import places
from ortcache.bridge.private import sweep
from ortcache.stores import MemoryStore

from ..support.mounts import OWN_MOUNTS, need_mounts
from ..support.process import run_python
from .test_failures import run


def test_no_room_for_what_was_restored_is_a_miss(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store)

    def full(file: int, data: memoryview) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr("ortcache.bridge.tree.os.write", full)
        d = bridge.directory(store, "fake", scope="v1")
        assert d.path is not None and list(d.path.iterdir()) == []
    assert (d.stats.hits, d.stats.misses, d.stats.failed) == (0, 1, 1)
    (d.path / "engine").write_bytes(b"built")
    d.close()
    with monkeypatch.context() as patch:
        patch.setattr("ortcache.bridge.tree.os.write", full)
        with pytest.raises(OSError, match="No space"):
            bridge.directory(store, "fake", scope="v1", strict=True)


def test_what_was_restored_in_part_is_not_stored(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        for name in ("engine", "profile"):
            (d.path / name).write_bytes(name.encode())
    values = {key: store.get(key) for key in store.keys()}  # noqa: SIM118
    real = os.write

    def interrupted(file: int, data: memoryview) -> int:
        if bytes(data) == b"profile":
            raise KeyboardInterrupt
        return real(file, data)

    with monkeypatch.context() as patch:
        patch.setattr("ortcache.bridge.tree.os.write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            bridge.directory(store, "fake", scope="v1")
    assert list(temporary.iterdir()) == []
    assert {key: store.get(key) for key in store.keys()} == values  # noqa: SIM118


def test_a_full_disk_below_the_store_breaks_no_run(temporary: Path, tmp_path: Path) -> None:
    need_mounts(tmp_path)
    out = run_python(
        OWN_MOUNTS
        + """
import logging, os, subprocess, sys
from pathlib import Path
from ortcache import bridge
from ortcache.stores import DirectoryStore
disk = Path(sys.argv[1]); disk.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
logging.disable()
store = DirectoryStore(disk / "store")
with bridge.directory(store, "fake", scope="v1", root=sys.argv[2]) as d:
    (d.path / "engine").write_bytes(os.urandom(3_000_000))
print(d.stats.failed, d.stats.saved_files, [key for key in store.keys() if "directory" in key])
print([path.name for path in (disk / "store").iterdir() if path.stat().st_size])
        """,
        tmp_path / "disk",
        temporary,
    )
    assert out.startswith("1 0 []\n")


def test_files_that_a_full_folder_may_have_cut_short_are_not_stored(tmp_path: Path) -> None:
    need_mounts(tmp_path)
    out = run_python(
        OWN_MOUNTS
        + """
import logging, subprocess, sys
from pathlib import Path
from ortcache import bridge
from ortcache.stores import MemoryStore
disk = Path(sys.argv[1]); disk.mkdir()
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], check=True)
logging.disable()
store = MemoryStore()
for size in (500_000, 3_000_000):
    with bridge.directory(store, "fake", scope="v1", root=disk) as d:
        try:
            (d.path / "engine").write_bytes(bytes(size))
        except OSError:
            pass  # as a provider does that only logs it
    print(d.stats.failed, d.stats.saved_files)
with bridge.directory(store, "fake", scope="v1", root=disk) as d:
    print((d.path / "engine").stat().st_size)
        """,
        tmp_path / "disk",
    )
    assert out.splitlines() == ["0 1", "1 0", "500000"]


def test_where_no_directory_can_be_made_the_provider_runs_without(
    store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "_in_memory", lambda: iter(()))
    monkeypatch.setattr(places, "_temporary", lambda: None)
    with pytest.warns(RuntimeWarning, match="runs without a cache") as seen:
        with bridge.directory(store, "fake", scope="v1") as d:
            assert d.path is None
            assert bridge.options_for("TensorrtExecutionProvider", d, device_id=1) == {"device_id": "1"}
            assert d.session(lambda d: "made without") == "made without" if d.ep is None else True
            assert not d.save()
    assert len(seen) == 1 and d.stats.failed == 1
    with pytest.raises(OSError, match="neither"):
        bridge.directory(store, "fake", scope="v1", strict=True)


def test_a_link_that_takes_the_place_of_the_folder_is_not_followed(
    temporary: Path, tmp_path: Path, store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "precious").write_bytes(b"precious")
    run(store)

    def replace(d: bridge.BridgedDirectory) -> None:
        assert d.path is not None
        (d.path / "engine").unlink()
        d.path.rmdir()
        d.path.symlink_to(other)

    with bridge.directory(store, "fake", scope="v1") as d:
        replace(d)
        assert not d.save()
    assert d.stats.failed and "a link has taken" in caplog.text
    with bridge.directory(store, "fake", scope="v1") as d, pytest.raises(RuntimeError, match="cannot load"):
        replace(d)
        d.session(_fail)
    with bridge.directory(store, "fake", scope="v1") as d:  # removed by the next process
        replace(d)
        assert d._private is not None
        d._private.forget()
    sweep([temporary], "nothing")
    assert (other / "precious").read_bytes() == b"precious"
    assert run(store).stats.hits == 1


def _fail(_: bridge.BridgedDirectory) -> None:
    raise RuntimeError("cannot load")
