"""Stores that are opened when they are first used: by themselves, and as levels of a tiered one."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ortcache.errors import InputError
from ortcache.stores import Level, MemoryStore, Tiered, open_store
from ortcache.stores.guarded import Guarded
from ortcache.stores.late import LateStore

from .conformance import Conformance


class TestLateStore(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> LateStore:
        return LateStore(tmp_path / "store")


def test_a_wrong_name_is_an_error_at_once_and_the_disk_is_touched_late(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no option 'bla'"):
        LateStore(f"file://{tmp_path}/store?bla=1")
    store = LateStore(tmp_path / "store")
    assert (store.inner, list(tmp_path.iterdir())) == (None, [])
    store.put("key", b"x")
    assert store.inner is not None and open_store(tmp_path / "store").get("key") == b"x"
    store.close()
    assert (store.inner, store.get("key")) == (None, b"x")


def test_a_remote_one_is_there_at_once_since_that_fails_no_more() -> None:
    store = LateStore("redis://127.0.0.1:9?verify=0")
    assert isinstance(store.inner, Guarded)


def test_a_level_on_a_disk_that_cannot_be_used_is_one_that_is_down(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"")
    below = MemoryStore()
    below.put("key", b"x")
    store = Tiered([Level(f"file://{tmp_path}/file/store?max_size=1G", "disk"), Level(below, "memory")])
    assert [store.get("key") for _ in range(3)] == [b"x"] * 3
    store.put("other", b"y")
    assert below.get("other") == b"y"
    (warning,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert "disk" in warning.getMessage()


def test_a_level_by_its_path_is_filled_and_kept(tmp_path: Path) -> None:
    below = MemoryStore()
    below.put("key", b"x")
    with Tiered([Level(tmp_path / "disk"), Level(below)]) as store:
        assert store.get("key") == b"x"
    assert open_store(tmp_path / "disk").get("key") == b"x"
    readable = Tiered([Level(f"file://{tmp_path}/disk?mode=r", "disk"), Level(below)])
    readable.put("key", b"new")
    assert open_store(tmp_path / "disk").get("key") == b"x"
