"""``python -m gen check``: is the committed output fresh, and do others who read the headers agree with it?"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from . import oracle_ctypesgen, oracle_library, oracle_probe, snapshot
from .build import lay, newest_snapshot
from .emit import emit
from .errors import GenError
from .fetch import held
from .fresh import changes
from .importer import import_headers, load_snapshots
from .model import Header
from .origins import from_folder
from .paths import ABI, OVERLAYS, RAW, SOURCES, TABLES, UPSTREAM, shown
from .report import Report
from .since import load_tables
from .sources import load_sources, root_files

__all__ = ["add_arguments", "run"]

ORACLES = ("ctypesgen", "compiler", "library")

_NO_HEADERS = "no upstream headers are here: `python -m gen fetch` brings them"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--require",
        type=_oracles,
        default=(),
        metavar="ORACLES",
        help=f"of {', '.join(ORACLES)} or all, with commas between: one that did not run is a failure",
    )
    parser.add_argument(
        "--headers",
        action="append",
        metavar="RELEASE|DIR",
        help="headers for the oracles, a fetched release or a folder; may be given several times; by default "
        "every fetched release",
    )
    parser.add_argument("--library", type=Path, metavar="FILE", help="by default that of the onnxruntime wheel")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    parser.epilog = "Exit codes: 0 all is well, 1 stale output or an oracle that does not agree, 2 bad usage or input."


def run(args: argparse.Namespace) -> int:
    laid, _ = lay(newest_snapshot(ABI), OVERLAYS)
    stale = changes(emit(laid, [path.name for path in OVERLAYS]), RAW)
    reports: list[Report] = []
    sets = [_header_set(name) for name in args.headers] if args.headers is not None else list(_fetched())
    for found in sets:
        stale |= found.stale
        reports.append(oracle_ctypesgen.compare(found.header, found.files, found.name))
        reports.append(oracle_probe.compare(found.header, found.files, found.name))
        reports.append(oracle_library.compare(found.header, found.name, args.library))
    if not sets:
        reports += [Report(oracle, "headers", why_not=_NO_HEADERS) for oracle in ORACLES[:2]]
    reports.append(oracle_library.compare(laid, shown(RAW), args.library))
    return _tell(stale, reports, args)


@dataclass
class _HeaderSet:
    """A set for the oracles: the snapshot that is compared, and the files that they read."""

    name: str
    header: Header
    files: list[Path]
    stale: dict[str, str]


def _fetched() -> Iterator[_HeaderSet]:
    for release in load_sources(SOURCES):
        if (UPSTREAM / release).is_dir():
            yield _header_set(release)


def _header_set(name: str) -> _HeaderSet:
    """A fetched release with its committed snapshot, or a folder with one that is made now."""
    pinned = load_sources(SOURCES).get(name)
    folder = UPSTREAM / name if pinned else Path(name)
    wrong = held(pinned, UPSTREAM) if pinned else []
    if wrong is None or wrong:
        raise GenError(f"{shown(folder)}: {'; '.join(wrong or ['not there'])}: `python -m gen fetch {name}` mends it")
    [found] = from_folder(folder)
    files = [Path(found.place, file) for file in root_files(found.files)]
    header = import_headers(folder, load_tables(TABLES), load_snapshots(ABI), name if pinned else None).header
    committed = ABI / f"ort-{header.release}.json"
    if pinned is None or not committed.is_file():
        return _HeaderSet(name, header, files, {})
    return _HeaderSet(name, snapshot.load(committed), files, changes({committed.name: snapshot.dumps(header)}, ABI))


def _tell(stale: dict[str, str], reports: list[Report], args: argparse.Namespace) -> int:
    missing = [report for report in reports if report.why_not is not None and report.oracle in args.require]
    failed = bool(stale or missing or any(report.problems for report in reports))
    if args.json:
        document = {
            "ok": not failed,
            "stale": stale,
            "oracles": [report.data() | {"required": report.oracle in args.require} for report in reports],
        }
        print(json.dumps(document, indent=1))
        return int(failed)
    for name, diff in stale.items():
        print(f"{name} is stale:\n{diff}", end="")
    if stale:
        print("stale: `python -m gen import` (with the headers) and `python -m gen build` write it anew")
    else:
        print("the committed output is what the generator gives")
    for report in reports:
        print("\n".join(report.lines()))
    for report in missing:
        print(f"{report.oracle}, {report.subject}: it was required, and did not run")
    return int(failed)


def _oracles(text: str) -> tuple[str, ...]:
    names = text.split(",")
    if "all" in names:
        return ORACLES
    unknown = [name for name in names if name not in ORACLES]
    if unknown:
        raise argparse.ArgumentTypeError(f"{', '.join(unknown)}: one of {', '.join(ORACLES)} or all")
    return tuple(names)
