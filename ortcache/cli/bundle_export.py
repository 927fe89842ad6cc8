"""``ortcache export``: entries of a store into one file."""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import InputError
from ..stores.protocol import Store
from . import entries, scoped
from .output import add_json, complain, show
from .target import add_store, opened, shown
from .units import size_text

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "export",
        help="write entries into one bundle file, to ship a warm cache",
        description="Write entries into one file, whole or not at all. Exit code 1, and no file, where one is missing.",
    )
    add_store(parser)
    parser.add_argument("file", metavar="FILE", help="the bundle; one that is there is replaced")
    parser.add_argument("keys", metavar="KEY", nargs="*", help="keys, or patterns such as 'mul-*'; else all")
    parser.add_argument("--scope", metavar="DIGEST", help="a scope's entries; the start of its digest is enough")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from ..stores.bundle import export_bundle

    if args.keys and args.scope:
        raise InputError("export takes keys, or --scope DIGEST, or neither for everything")
    with opened(args.store, read_only=True) as store:
        keys, missing = _keys(store, args)
        if missing:
            for text in missing:
                complain(f"nothing is stored as {text}")
            return 1
        manifest = export_bundle(store, args.file, keys=keys)
    document = {
        "store": shown(args.store),
        "file": args.file,
        "entries": [{"key": entry.key, "size": entry.size, "sha256": entry.sha256} for entry in manifest.entries],
        "size": manifest.size,
    }
    show(args, document, [f"{entries.count(len(manifest.entries))}, {size_text(manifest.size)}, in {args.file}"])
    return 0


def _keys(store: Store, args: argparse.Namespace) -> tuple[list[str] | None, list[str]]:
    """Which entries, None for all; and what there is none for."""
    if args.scope:
        return scoped.stored_keys(store, scoped.chosen_scope(store, args.scope)), []
    return entries.match(sorted(store.keys()), args.keys) if args.keys else (None, [])
