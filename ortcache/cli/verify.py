"""``ortcache verify``: is every value in a store as it was stored?"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ..stores.verified import Verified
from .output import add_json, columns, show
from .target import add_store, opened, shown
from .units import size_text

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "verify",
        help="check the seal of every entry",
        description="Read every entry and check its seal: length and checksum, or MAC. Exit code 1 where one is "
        "damaged, or, with a MAC key, not sealed with it. What was stored without a seal cannot be checked.",
    )
    add_store(parser, alone=True)
    parser.add_argument("--mac-key", metavar="FILE", type=Path, help="a file with the MAC key, 16 to 64 bytes")
    parser.add_argument("--delete", action="store_true", help="remove what the exit code is 1 for")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    key = args.mac_key.read_bytes() if args.mac_key else None
    with opened(args.store) as store:
        verified = Verified(store, mac_key=key)
        report = verified.verify()
        kept_aside = verified.quarantined()
        bad = {**report.damaged, **(report.foreign if key else {})}
        removed = [name for name in sorted(bad) if args.delete and store.delete(name)]
    document = {
        "store": shown(args.store),
        "whole": report.whole,
        "size": report.size,
        "damaged": report.damaged,
        "foreign": report.foreign,
        "quarantined": kept_aside,
        "removed": removed,
    }
    show(args, document, _text(document))
    return 1 if bad else 0


def _text(d: dict[str, Any]) -> list[str]:
    lines = [f"{d['whole']} whole, {size_text(d['size'])}"]
    for kind, what in (("damaged", "damaged"), ("foreign", "not of this seal, and so not checked")):
        if d[kind]:
            lines += [f"{len(d[kind])} {what}:", *columns([(f"  {key}", why) for key, why in sorted(d[kind].items())])]
    if d["quarantined"]:
        lines.append(f"{len(d['quarantined'])} kept aside as damaged before: {', '.join(sorted(d['quarantined']))}")
    return [*lines, *(f"removed {key}" for key in d["removed"])]
