"""``ortcache verify``: is every value in a store as it was stored?"""

from __future__ import annotations

import argparse
from typing import Any

from ..errors import InputError
from ..stores.protocol import layers
from ..stores.verified import QUARANTINE, Verified
from .output import add_json, columns, show
from .target import add_store, opened, shown
from .units import size_text

__all__ = ["add_parser"]

_DESCRIPTION = """\
Read every entry and check its seal: length and checksum, or the MAC where the store's URL has mac_key_env. Exit code 1
where one is damaged, or foreign: stored without a seal, or with another MAC key. Neither is ever given to a provider.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("verify", help="check the seal of every entry", description=_DESCRIPTION)
    add_store(parser, alone=True)
    parser.add_argument("--delete", action="store_true", help="remove what is damaged, or was kept aside as such")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    with opened(args.store, read_only=not args.delete) as store:
        verified = next((layer for layer in layers(store) if isinstance(layer, Verified)), None)
        if verified is None:
            raise InputError("with verify=0 in its URL, this store's values have no seal that could be checked")
        report, kept_aside = verified.verify(), verified.quarantined()
        removed = []
        if args.delete:
            removed = [key for key in sorted(report.damaged) if verified.delete(key)]
            for key in [key for key in verified.inner.keys() if key.startswith(QUARANTINE)]:  # noqa: SIM118 - no mapping
                verified.inner.delete(key)
    document = {
        "store": shown(args.store),
        "whole": report.whole,
        "size": report.size,
        "damaged": report.damaged,
        "foreign": report.foreign,
        "kept_aside": kept_aside,
        "removed": removed,
    }
    show(args, document, _text(document, deleted=args.delete))
    return 0 if report.good else 1


def _text(d: dict[str, Any], *, deleted: bool) -> list[str]:
    lines = [f"{d['whole']} whole, {size_text(d['size'])}"]
    for kind in ("damaged", "foreign"):
        if d[kind]:
            lines += [f"{len(d[kind])} {kind}:", *columns([(f"  {key}", why) for key, why in sorted(d[kind].items())])]
    if d["kept_aside"]:
        done = "; removed" if deleted else ""
        lines.append(f"{len(d['kept_aside'])} kept aside as damaged before: {', '.join(sorted(d['kept_aside']))}{done}")
    return [*lines, *(f"removed {key}" for key in d["removed"])]
