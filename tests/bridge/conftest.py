"""Directories below a folder of the test's own, so that what is left behind is seen."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from ortcache.bridge import places
from ortcache.stores import MemoryStore


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The only folder that a directory may be made in; nothing may be left there, and nothing appear where we are."""
    root = tmp_path / "temporary"
    root.mkdir()
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setattr(places, "_in_memory", lambda: iter(()))
    monkeypatch.setattr(tempfile, "tempdir", str(root))
    yield root
    assert list(root.iterdir()) == []
    assert list(here.iterdir()) == []


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    folder.mkdir()
    return folder
