"""The store in a SQLite database: what every store must do, and what is on the disk."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ortcache.stores.sqlite import SqliteStore

from .sharing import Sharing


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "cache.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(path) as store:
        yield store


@pytest.fixture
def opening(path: Path) -> str:
    return f"from ortcache.stores.sqlite import SqliteStore; store = SqliteStore({str(path)!r})"


class TestSqliteStore(Sharing):
    """What every store must do."""
