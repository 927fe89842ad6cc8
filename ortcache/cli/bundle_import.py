"""``ortcache import``: what ``export`` wrote, into a store."""

from __future__ import annotations

import argparse
from typing import Any

from . import entries
from .output import add_json, show
from .target import add_store, opened, shown
from .units import size, size_text

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "import",
        help="put a bundle file's entries into a store",
        description="Check a bundle, then put its entries into a store, in place of those with the same keys. A bundle "
        "that is not as it should be changes nothing. A local store is made where there is none.",
    )
    parser.add_argument("file", metavar="FILE", help="the bundle")
    add_store(parser, alone=True)
    parser.add_argument("--max-size", metavar="SIZE", type=size, help="refuse one whose values have more, such as 3G")
    parser.add_argument("-n", "--dry-run", action="store_true", help="only check the bundle; no store is needed")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from ..stores.bundle import check_bundle, import_bundle

    if args.dry_run:
        manifest = check_bundle(args.file, max_size=args.max_size)
    else:
        check_bundle(args.file, max_size=args.max_size)  # before a store is made for it
        with opened(args.store, make=True) as store:
            manifest = import_bundle(args.file, store, max_size=args.max_size)
    document = {
        "store": None if args.dry_run else shown(args.store),
        "file": args.file,
        "dry_run": args.dry_run,
        "entries": [{"key": entry.key, "size": entry.size, "sha256": entry.sha256} for entry in manifest.entries],
        "size": manifest.size,
        "info": dict(manifest.info),
    }
    done = "would be stored" if args.dry_run else "stored"
    show(args, document, [f"{entries.count(len(manifest.entries))}, {size_text(manifest.size)}, {done}"])
    return 0
