"""``python -m gen diff``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import snapshot
from ..changes import to_json, to_text
from ..diff import compare
from ..errors import GenError
from ..importer import import_headers, load_snapshots
from ..model import Header
from ..paths import ABI, TABLES, shown
from ..since import load_tables

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for side in ("old", "new"):
        parser.add_argument(side, help=f"a release in {shown(ABI)} (1.29), a snapshot file, or a folder of headers")
    parser.add_argument("--json", action="store_true", help="for scripts")
    parser.epilog = (
        "Exit code 0: nothing changed, or additions at the end alone. 1: something is not append-only (removed, "
        "inserted, moved, of another type or value); each such break is named. Renamed parameters are no break."
    )


def run(args: argparse.Namespace) -> int:
    old, new = _read(args.old), _read(args.new)
    changes = compare(old, new)
    print(to_json(old, new, changes) if args.json else to_text(old, new, changes))
    return int(any(change.breaking for change in changes))


def _read(name: str) -> Header:
    path = Path(name)
    if path.is_dir():
        return import_headers(path, load_tables(TABLES), load_snapshots(ABI)).header
    if path.is_file():
        return snapshot.load(path)
    committed = ABI / f"ort-{name}.json"
    if committed.is_file():
        return snapshot.load(committed)
    known = ", ".join(header.release for header in load_snapshots(ABI))
    raise GenError(f"{name} is no file, no folder and no release in {shown(ABI)}, which has {known}")
