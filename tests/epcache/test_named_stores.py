"""A URL or a path in the place of a store: opened when it is first used, and never a reason for a session to fail."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.epcache import make_callbacks
from ortcache.errors import EpCacheError, InputError
from ortcache.runtime import Runtime
from ortcache.stores import DirectoryStore
from ortcache.stores.readonly import ReadOnly

from ..support.cache_eps import EXPECTED, FEEDS, MODEL, cached_session, outcomes


@pytest.mark.parametrize("kind", [str, Path, lambda path: f"file://{path}"], ids=["text", "path", "URL"])
def test_a_directory_by_its_name(rt: Runtime, mul: Any, tmp_path: Path, kind: Any) -> None:
    where = kind(tmp_path / "cache")
    for wanted in ({"miss": 1, "built": 1, "written": 1}, {"hit": 1}):
        with rt.session_options(ep_cache=where) as options:
            options.append_ep(mul)
            with rt.session(MODEL, options) as session:
                np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
                assert outcomes() == wanted
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_memory_by_its_name_is_one_store_for_the_options(rt: Runtime, mul: Any) -> None:
    with rt.session_options(ep_cache="memory:") as options:
        options.append_ep(mul)
        for wanted in ({"miss": 1, "built": 1, "written": 1}, {"hit": 1}):
            with rt.session(MODEL, options):
                assert outcomes() == wanted


@pytest.mark.parametrize("where", ["foo://x", "redis://", "file:///x?max_sise=1", "", "s3:bucket", "memory:?mode=x"])
def test_a_wrong_name_is_refused_at_once(rt: Runtime, where: str) -> None:
    with pytest.raises(InputError):
        rt.session_options(ep_cache=where)


def test_nothing_is_opened_before_it_is_used_nor_where_caches_are_off(
    rt: Runtime, mul: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with rt.session_options(ep_cache=tmp_path / "cache"):
        assert not (tmp_path / "cache").exists()
    monkeypatch.setenv("ORTCACHE_DISABLE", "1")
    with cached_session(rt, mul, tmp_path / "cache") as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_one_that_cannot_be_opened_breaks_no_session_unless_it_is_strict(
    rt: Runtime, mul: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_bytes(b"in the way")
    where = tmp_path / "file" / "cache"
    with cached_session(rt, mul, where) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        stats = session.ep_cache_stats()
        assert (stats.read_errors, stats.write_errors, stats.timeouts, stats.hits, stats.misses) == (1, 1, 0, 0, 0)
    assert any("Not a directory" in record.getMessage() for record in caplog.records)
    with pytest.raises(EpCacheError, match="Not a directory"), cached_session(rt, mul, where, strict=True):
        pass
    (tmp_path / "file").unlink()
    with cached_session(rt, mul, where) as session:
        assert session.ep_cache_stats().writes == 1


def test_a_store_that_refuses_to_write_is_set_for_reading_only(rt: Runtime, mul: Any, tmp_path: Path) -> None:
    with cached_session(rt, mul, tmp_path / "cache"):
        pass
    files = list((tmp_path / "cache").iterdir())
    for cache in (f"file://{tmp_path}/cache?mode=r", ReadOnly(oc.stores.MemoryStore())):
        callbacks = make_callbacks(cache)
        assert callbacks is not None
        assert (callbacks.reads, callbacks.writes) == (True, False)
    with cached_session(rt, mul, f"file://{tmp_path}/cache?mode=r") as session:
        assert (outcomes(), session.ep_cache_stats().write_errors) == ({"hit": 1}, 0)
    assert list((tmp_path / "cache").iterdir()) == files


@pytest.mark.parametrize(
    ("read_error", "write_error", "counted"),
    [
        (TimeoutError, oc.errors.StoreTimeoutError, (0, 1, 1, 2)),
        (TimeoutError, None, (0, 1, 0, 1)),
        (OSError, TimeoutError, (0, 1, 1, 1)),
        (OSError, oc.errors.StoreError, (0, 1, 1, 0)),
        (None, None, (1, 0, 0, 0)),
    ],
)
def test_timeouts_are_told_from_other_errors_and_from_misses(
    rt: Runtime, mul: Any, read_error: Any, write_error: Any, counted: tuple[int, ...]
) -> None:
    def read(key: str) -> None:
        if read_error:
            raise read_error("what went wrong")

    def write(key: str, value: memoryview) -> None:
        if write_error:
            raise write_error("what went wrong")

    with cached_session(rt, mul, read=read, write=write) as session:
        stats = session.ep_cache_stats()
    assert (stats.misses, stats.read_errors, stats.write_errors, stats.timeouts) == counted
    assert (stats.reads, stats.as_dict()["timeouts"]) == (1, stats.timeouts)


def test_the_store_is_used_under_the_options_of_the_url(rt: Runtime, mul: Any, tmp_path: Path) -> None:
    with cached_session(rt, mul, f"file://{tmp_path}/cache?namespace=v1&verify=0"):
        pass
    (key,) = DirectoryStore(tmp_path / "cache").keys()
    assert key.startswith("v1.mul-")
