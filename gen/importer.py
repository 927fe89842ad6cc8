"""Headers to a `Header`: preprocess, parse, since-versions. The stage behind ``python -m gen import``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from . import snapshot
from .model import Header
from .origins import from_folder
from .parse import parse
from .preprocess import preprocess
from .since import Tables, assign_since
from .sources import check_release, root_files

__all__ = ["Imported", "import_headers", "load_snapshots"]


@dataclass(frozen=True)
class Imported:
    """A header set as read, and what its comments got wrong."""

    header: Header
    notes: list[str]


def import_headers(folder: Path, tables: Tables, older: Iterable[Header] = (), release: str | None = None) -> Imported:
    """Read the headers of a folder.

    Args:
        tables: measured table sizes (`since.load_tables`).
        older: snapshots to compare with; those that are not older are passed over.
        release: its name; by default 1.N, where N is the headers' ORT_API_VERSION.

    Raises:
        GenError: the folder has no headers of ONNX Runtime, or something in them is not understood.
    """
    [found] = from_folder(folder)
    source = preprocess([Path(found.place, name) for name in root_files(found.files)])
    header = parse(source)
    header.release = release or f"1.{header.api_version}"
    check_release(header.release, header.api_version)
    return Imported(header, assign_since(header, source.texts, tables, older))


def load_snapshots(folder: Path) -> list[Header]:
    """The snapshots of a folder, oldest first."""
    return sorted((snapshot.load(path) for path in sorted(folder.glob("ort-*.json"))), key=lambda h: h.api_version)
