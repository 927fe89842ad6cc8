"""``ortcache abi diff A B``: what API version B has that A has not, as the declarations know it."""

from __future__ import annotations

import argparse
import re
from itertools import groupby
from typing import Any

from .. import raw
from ..raw import _declarations as declared
from . import declarations
from .output import add_json, columns, show

__all__ = ["add_parser"]


def add_parser(actions: Any) -> None:
    parser = actions.add_parser(
        "diff",
        help="what changes from one API version to another",
        description="What changes from API version A to B. Going back takes members away: a break, exit code 1.",
    )
    for name in "AB":
        parser.add_argument(name.lower(), type=_version, metavar=name, help="an API version: 23, 1.23 or 1.23.2")
    add_json(parser)
    parser.set_defaults(run=_run)


def _version(text: str) -> int:
    match = re.fullmatch(r"1\.(\d+)(?:\.\d+)?|(\d+)", text)
    version = int(match[1] or match[2]) if match else 0
    if not 1 <= version <= raw.GENERATED_API_VERSION:
        newest = raw.GENERATED_API_VERSION
        raise argparse.ArgumentTypeError(f"{text!r} is no API version from 1 to {newest} (or 1.1 to 1.{newest})")
    return version


def _run(args: argparse.Namespace) -> int:
    older, newer = sorted((args.a, args.b))
    everything = [
        (declarations.member(struct, index, slot), slot.since)
        for struct in declared.STRUCTS
        for index, slot in enumerate(raw.slots(struct))
    ]
    between = [m for m, since in everything if isinstance(since, int) and older < since <= newer]
    added, removed = (between, []) if args.a <= args.b else ([], between)
    document = {
        "from": args.a,
        "to": args.b,
        "added": added,
        "removed": removed,
        "not_compared": sum(since is None for _, since in everything),
    }
    show(args, document, _text(document))
    return 1 if removed else 0


def _text(document: dict[str, Any]) -> list[str]:
    added, removed = document["added"], document["removed"]
    lines = [f"1.{document['from']} to 1.{document['to']}: {len(added)} members added, {len(removed)} removed"]
    sign = "-" if removed else "+"
    for struct, group in groupby(added or removed, key=lambda m: m["struct"]):
        rows = [(f"  {sign} {m['index']}", declarations.since_text(m["since"]), declarations.text(m)) for m in group]
        lines += ["", f"{struct} ({len(rows)})", *columns(rows)]
    if document["not_compared"]:
        lines += ["", f"not compared: {document['not_compared']} members whose since-version is not known"]
    return lines
