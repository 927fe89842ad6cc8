"""Runs of a provider that does with its directory what a test says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ortcache import bridge
from ortcache.bridge import BridgedDirectory
from ortcache.stores import MemoryStore
from ortcache.stores.protocol import Buffer

__all__ = ["Counting", "Writer", "content", "run", "writes"]

Writer = Callable[[Path], object]


class Counting(MemoryStore):
    """Knows how often it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.puts = 0

    def put(self, key: str, value: Buffer) -> None:
        self.puts += ".directory." in key
        super().put(key, value)


def run(store: object, write: Writer | None = None, **options: object) -> BridgedDirectory:
    """One run of a provider that writes."""
    with bridge.directory(store, "fake", **{"scope": "v1", **options}) as d:  # type: ignore[arg-type]
        assert d.path is not None
        if write is not None:
            write(d.path)
    return d


def writes(**files: bytes) -> Writer:
    return lambda path: [(path / name.replace("__", ".")).write_bytes(content) for name, content in files.items()]


def content(path: Path) -> dict[str, bytes]:
    return {file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()}
