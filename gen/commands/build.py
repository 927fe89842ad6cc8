"""``python -m gen build``."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..build import lay, newest_snapshot, write
from ..emit import emit
from ..overlay import generated_version
from ..paths import ABI, OVERLAYS, RAW, shown

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--snapshot", type=Path, metavar="FILE", help=f"by default the newest in {shown(ABI)}")
    laid = parser.add_mutually_exclusive_group()
    laid.add_argument(
        "--overlay",
        type=Path,
        action="append",
        metavar="FILE",
        help=f"may be given several times; by default {', '.join(map(shown, OVERLAYS))}",
    )
    laid.add_argument("--no-overlays", action="store_true", help="the bindings of the snapshot alone")
    parser.add_argument("--out", type=Path, default=RAW, metavar="DIR", help=f"by default {shown(RAW)}")
    parser.epilog = (
        "Prints a line for each overlay entry that steps aside because the headers hold it. Writes only its own "
        "files, and those only where they differ."
    )


def run(args: argparse.Namespace) -> int:
    path = args.snapshot or newest_snapshot(ABI)
    overlays = [] if args.no_overlays else args.overlay or list(OVERLAYS)
    header, notes = lay(path, overlays)
    for note in notes:
        print(note)
    files = emit(header, [overlay.name for overlay in overlays])
    changed = write(files, args.out)
    done = f"written: {', '.join(changed)}" if changed else "nothing changed"
    print(f"{shown(args.out)}: API version {generated_version(header)}, from {shown(path)}; {done}")
    return 0
