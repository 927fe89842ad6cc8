"""A snapshot and the overlays to the text of ``ortcache/raw``. The stage behind ``python -m gen build``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import snapshot
from .emit import emit
from .errors import GenError
from .model import Header
from .overlay import apply, read_overlay

__all__ = ["build", "lay", "newest_snapshot", "write"]


def build(snapshot_path: Path, overlays: Sequence[Path]) -> dict[str, str]:
    """File name under ``ortcache/raw`` to its text. The same inputs give the same text everywhere."""
    header, _ = lay(snapshot_path, overlays)
    return emit(header, [path.name for path in overlays])


def lay(snapshot_path: Path, overlays: Sequence[Path]) -> tuple[Header, list[str]]:
    """A snapshot with the overlays over it, in order, and a line for each entry that stepped aside."""
    header = snapshot.load(snapshot_path)
    notes: list[str] = []
    for path in overlays:
        header, aside = apply(header, read_overlay(path))
        notes += aside
    return header, notes


def newest_snapshot(folder: Path) -> Path:
    """The snapshot of the highest API version."""
    paths = sorted(folder.glob("ort-*.json"))
    if not paths:
        raise GenError(f"{folder} holds no snapshot: `python -m gen import` writes them")
    return max(paths, key=lambda path: snapshot.load(path).api_version)


def write(files: dict[str, str], folder: Path) -> list[str]:
    """Write what differs; give the names of the files that did. Other files in the folder are left alone."""
    changed = []
    for name, text in files.items():
        path = folder / name
        data = text.encode()
        if not path.is_file() or path.read_bytes() != data:
            folder.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            changed.append(name)
    return changed
