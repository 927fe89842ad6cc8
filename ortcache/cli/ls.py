"""``ortcache ls``: what is in a store."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

from ..errors import InputError
from ..stores.protocol import Entry
from . import entries, scoped
from .output import add_json, columns, complain, show
from .target import add_store, opened, shown
from .units import age, moment, size_text

__all__ = ["add_parser"]

_ORDERS: dict[str, Callable[[Entry], Any]] = {
    "key": lambda entry: entry.key,
    "size": lambda entry: (-entry.size, entry.key),
    "used": lambda entry: (-(entry.used or 0), entry.key),
}


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "ls",
        help="list the entries: size, last use, key",
        description="List entries. Exit code 1 where nothing has a key, or matches a pattern, that was given.",
    )
    add_store(parser, alone=True)
    parser.add_argument("patterns", metavar="PATTERN", nargs="*", help="keys, or patterns such as 'mul-*'; else all")
    parser.add_argument("-l", "--long", action="store_true", help="sizes in bytes, times to the second")
    order = "key, size (largest first), used (latest first)"
    parser.add_argument("--sort", choices=tuple(_ORDERS), default="key", help=order)
    parser.add_argument("--scopes", action="store_true", help="list the scopes with their parts, and no entries")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    if args.scopes:
        return _scopes(args)
    with opened(args.store, read_only=True) as store:
        everything = entries.every_entry(store)
    missing: list[str] = []
    if args.patterns:
        keys, missing = entries.match([entry.key for entry in everything], args.patterns)
        everything = [entry for entry in everything if entry.key in set(keys)]
    everything.sort(key=_ORDERS[args.sort])
    document: dict[str, Any] = {
        "store": shown(args.store),
        "entries": [entries.document(entry) for entry in everything],
        "size": sum(entry.size for entry in everything),
        "not_found": missing,
    }
    show(args, document, _text(everything, document["size"], long=args.long))
    for text in missing:
        complain(f"nothing is stored as {text}")
    return 1 if missing else 0


def _scopes(args: argparse.Namespace) -> int:
    if args.patterns:
        raise InputError("--scopes lists every scope: it takes no PATTERN")
    with opened(args.store, read_only=True) as store:
        found = scoped.read_scopes(store)
    document = {"store": shown(args.store), "scopes": [scoped.document(scope) for scope in found]}
    lines = [line for scope in found for line in scoped.text(scope)]
    show(args, document, [*lines, f"{len(found)} scope{'' if len(found) == 1 else 's'}"])
    return 0


def _text(listed: list[Entry], total: int, *, long: bool) -> list[str]:
    if long:
        rows = [(str(entry.size), moment(entry.used), entry.key) for entry in listed]
    else:
        rows = [(size_text(entry.size), age(entry.used), entry.key) for entry in listed]
    table = columns([("size", "last use", "key"), *rows], right=(0,)) if rows else []
    return [*table, f"{entries.count(len(rows))}, {size_text(total)}"]
