"""SQLite by its URL."""

from __future__ import annotations

import gc
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from ortcache.runtime import Runtime

from ..support.cache_eps import MODEL, outcomes


def test_sqlite_by_its_name_relative_and_closed_at_the_end(
    rt: Runtime, mul: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    for wanted in ({"miss": 1, "built": 1, "written": 1}, {"hit": 1}):
        monkeypatch.chdir(tmp_path)
        with rt.session_options(ep_cache="sqlite:///app-cache.db") as options:
            options.append_ep(mul)
            monkeypatch.chdir(tmp_path / "elsewhere")  # it is what it was when it was named
            session = rt.session(MODEL, options)
        with session:
            assert outcomes() == wanted
    gc.collect()
    with sqlite3.connect(tmp_path / "app-cache.db") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()
