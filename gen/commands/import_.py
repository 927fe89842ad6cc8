"""``python -m gen import``."""

from __future__ import annotations

import argparse
from pathlib import Path

from .. import snapshot
from ..errors import GenError
from ..fetch import held
from ..importer import Imported, import_headers, load_snapshots
from ..paths import ABI, SOURCES, TABLES, UPSTREAM, shown
from ..since import load_tables
from ..sources import load_sources

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "release", nargs="*", metavar="RELEASE", help="fetched releases; all that are pinned by default"
    )
    parser.add_argument("--from", type=Path, dest="folder", metavar="DIR", help="read this include folder or checkout")
    parser.add_argument("-o", "--out", type=Path, default=ABI, metavar="DIR", help=f"by default {shown(ABI)}")
    parser.add_argument("-v", "--verbose", action="store_true", help="name the macros that are no constants, and why")
    parser.epilog = (
        f"Writes {shown(ABI)}/ort-RELEASE.json. With --from, RELEASE is 1.N by default, where N is the headers' "
        "ORT_API_VERSION. Since-versions are compared with the older snapshots there."
    )


def run(args: argparse.Namespace) -> int:
    if args.folder is not None and len(args.release) > 1:
        raise GenError("--from takes one RELEASE at most")
    tables = load_tables(TABLES)
    # Oldest first, so that what is imported now is there for the next to compare with.
    for release, folder in _folders(args):
        imported = import_headers(folder, tables, load_snapshots(ABI), release)
        args.out.mkdir(parents=True, exist_ok=True)
        path = args.out / f"ort-{imported.header.release}.json"
        snapshot.dump(imported.header, path)
        _report(imported, path, args.verbose)
    return 0


def _folders(args: argparse.Namespace) -> list[tuple[str | None, Path]]:
    if args.folder is not None:
        return [(args.release[0] if args.release else None, args.folder)]
    sets = load_sources(SOURCES)
    folders: list[tuple[str | None, Path]] = []
    for release in args.release or list(sets):
        folder = UPSTREAM / release
        if release in sets:
            wrong = held(sets[release], UPSTREAM)
            if wrong:
                raise GenError(f"{shown(folder)}: {'; '.join(wrong)}: `python -m gen fetch {release}` mends it")
        if not folder.is_dir():
            raise GenError(f"{release} is not there: `python -m gen fetch {release}` brings it")
        if release not in sets:
            print(f"{release} is not pinned in {shown(SOURCES)}: these headers are not verified")
        folders.append((release, folder))
    return folders


def _report(imported: Imported, path: Path, verbose: bool) -> None:
    header = imported.header
    counts = {
        "structs": len(header.records),
        "members": sum(len(record.members) for record in header.records.values()),
        "handles": len(header.handles),
        "enums": len(header.enums),
        "callback types": len(header.callbacks),
        "functions": len(header.functions),
        "constants": len(header.constants),
        "config keys": len(header.keys),
    }
    print(f"{header.release}: {shown(path)} written, API version {header.api_version}")
    print("  " + ", ".join(f"{number} {what}" for what, number in counts.items()))
    for note in imported.notes:
        print(f"  note: {note}")
    if verbose:
        for name, reason in header.skipped.items():
            print(f"  skipped macro {name}: {reason}")
    elif header.skipped:
        print(f"  {len(header.skipped)} macros are no constants and were skipped (-v names them)")
