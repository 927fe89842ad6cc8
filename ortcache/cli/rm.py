"""``ortcache rm``: entries out of a store."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ..errors import InputError
from ..keys import check_key
from ..scope import delete_scope
from ..stores.protocol import Store
from . import entries, scoped
from .guard import check_is_store
from .output import add_json, complain, say, show
from .target import add_store, opened, shown

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "rm",
        help="remove entries: by key, by pattern, by scope, or all",
        description="Remove entries. Exit code 1 where one was not there, or where the answer was no.",
    )
    add_store(parser)
    parser.add_argument("keys", metavar="KEY", nargs="*", help="keys, or patterns such as 'mul-*'")
    parser.add_argument("--scope", metavar="DIGEST", help="a scope and its entries; the start of its digest is enough")
    parser.add_argument("--all", action="store_true", help="every entry; asks first")
    parser.add_argument("-y", "--yes", action="store_true", help="do not ask")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if bool(args.keys) + bool(args.scope) + args.all != 1:
        raise InputError("rm takes keys or patterns, or --scope DIGEST, or --all: one of the three")
    if args.scope:
        return _scope(args)
    with opened(args.store) as store:
        keys, missing = _keys(store, args)
        if set(keys) - set(args.keys):  # more than was named
            check_is_store(store, keys)
        if args.all and not args.yes and not _agreed(len(keys), args.store):
            complain("nothing was removed")
            return 1
        removed = []
        for key in keys:
            if store.delete(key):
                removed.append(key)
            elif key in args.keys:
                missing.append(key)
    document = {"store": shown(args.store), "removed": removed, "not_found": missing}
    show(args, document, [*(f"removed {key}" for key in removed), f"{entries.count(len(removed))} removed"])
    for text in missing:
        complain(f"nothing is stored as {text}")
    return 1 if missing else 0


def _scope(args: argparse.Namespace) -> int:
    with opened(args.store, read_only=True) as store:
        scope = scoped.chosen_scope(store, args.scope)
    with opened(args.store) as store:
        removed = delete_scope(store, scope.digest)
    document = {"store": shown(args.store), "scope": scoped.document(scope), "removed": removed}
    show(args, document, [*scoped.text(scope), f"{entries.count(removed)} removed, and the scope"])
    return 0


def _keys(store: Store, args: argparse.Namespace) -> tuple[list[str], list[str]]:
    """What to remove, and the patterns that nothing matches. Only patterns need a listing, which may take long."""
    if args.all:
        return sorted(store.keys()), []
    named = [check_key(text) for text in args.keys if not entries.is_pattern(text)]
    patterns = [text for text in args.keys if entries.is_pattern(text)]
    if not patterns:
        return list(dict.fromkeys(named)), []
    matched, missing = entries.match(sorted(store.keys()), patterns)
    return list(dict.fromkeys([*named, *matched])), missing


def _agreed(count: int, store: str) -> bool:
    if sys.stdin is None or not sys.stdin.isatty():
        raise InputError("--all removes every entry: add --yes where there is no terminal to ask on")
    say(f"Remove all {entries.count(count)} of {shown(store)}? [y/N] ", end="")
    return sys.stdin.readline().strip().lower() in ("y", "yes")
