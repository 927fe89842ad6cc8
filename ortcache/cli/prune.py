"""``ortcache prune``: what was not used for long, out of a store."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ..errors import InputError
from ..stores.protocol import Entry
from . import entries
from .guard import check_is_store
from .output import add_json, columns, show
from .scoped import last_uses
from .target import add_store, opened, shown
from .units import age, duration, size, size_text

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "prune",
        help="remove what was not used for long, or what is too much",
        description="Remove entries, the least recently used ones first. With both limits, what is above either goes.",
    )
    add_store(parser, alone=True)
    parser.add_argument("--max-size", metavar="SIZE", type=size, help="what may stay in all, such as 3G or 500M")
    parser.add_argument("--older-than", metavar="TIME", type=duration, help="not used for so long: 12h, 30d, 2w")
    parser.add_argument("-n", "--dry-run", action="store_true", help="say what would go, and remove nothing")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.max_size is None and args.older_than is None:
        raise InputError("prune takes --max-size SIZE, or --older-than TIME, or both")
    with opened(args.store) as store:
        everything = entries.every_entry(store)
        if args.older_than is not None and any(entry.used is None for entry in everything):
            raise InputError("this store does not keep when an entry was last used: prune it with --max-size")
        gone = _surplus(everything, args.max_size, args.older_than)
        check_is_store(store, (entry.key for entry in everything))
        if not args.dry_run:
            gone = [entry for entry in gone if store.delete(entry.key)]
    left, freed = len(everything) - len(gone), sum(entry.size for entry in gone)
    document = {
        "store": shown(args.store),
        "dry_run": args.dry_run,
        "removed": [entries.document(entry) for entry in gone],
        "size_removed": freed,
        "left": left,
        "size_left": sum(entry.size for entry in everything) - freed,
    }
    what = "would be removed" if args.dry_run else "removed"
    rows = columns([(size_text(entry.size), age(entry.used), entry.key) for entry in gone], right=(0,)) if gone else []
    total = f"{entries.count(len(gone))} {what}, {size_text(freed)}; {left} stay, {size_text(document['size_left'])}"
    show(args, document, [*rows, total])
    return 0


def _surplus(everything: list[Entry], max_size: int | None, older_than: float | None) -> list[Entry]:
    left, oldest = sum(entry.size for entry in everything), time.time() - (older_than or 0)
    gone, used = [], last_uses(everything)
    for entry in sorted(everything, key=lambda entry: (used[entry.key], entry.key)):
        old = older_than is not None and used[entry.key] < oldest
        if old or (max_size is not None and left > max_size):
            gone.append(entry)
            left -= entry.size
    return gone
