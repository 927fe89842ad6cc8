"""``ortcache stats``: a store in figures."""

from __future__ import annotations

import argparse
from typing import Any

from ..stores.masking import masked
from ..stores.protocol import layers
from . import entries, scoped
from .output import add_json, columns, show
from .target import add_store, opened, shown
from .units import age, moment, size_text

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("stats", help="entries, bytes, cap, oldest and latest use")
    add_store(parser, alone=True)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    with opened(args.store, read_only=True) as store:
        everything = entries.every_entry(store)
        by_scope = scoped.read_scopes(store)
        cap = next((cap for layer in layers(store) if (cap := getattr(layer, "max_size", None))), None)
        backend = masked(repr(store))
    times = [entry.used for entry in everything if entry.used is not None]
    document = {
        "store": shown(args.store),
        "backend": backend,
        "entries": len(everything),
        "size": sum(entry.size for entry in everything),
        "max_size": cap,
        "largest": max((entry.size for entry in everything), default=0),
        "oldest_use": min(times, default=None),
        "latest_use": max(times, default=None),
        "scopes": [scoped.document(scope) for scope in by_scope],
    }
    show(args, document, [*_text(document), *(line for scope in by_scope for line in ["", *scoped.text(scope)])])
    return 0


def _text(d: dict[str, Any]) -> list[str]:
    cap = f", cap {size_text(d['max_size'])} ({d['size'] / d['max_size']:.0%} used)" if d["max_size"] else ", no cap"
    rows = [
        ("store", d["store"]),
        ("backend", d["backend"]),
        ("entries", d["entries"]),
        ("size", f"{size_text(d['size'])} ({d['size']} bytes){cap}"),
    ]
    if d["entries"]:
        rows.append(("largest", size_text(d["largest"])))
    if d["oldest_use"] is not None:
        rows += [(name, f"{age(d[f'{name}_use'])} ago, {moment(d[f'{name}_use'])}") for name in ("oldest", "latest")]
    return columns(rows)
