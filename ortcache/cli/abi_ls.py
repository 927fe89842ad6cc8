"""``ortcache abi ls``: the function tables with their sizes, or all names of one kind."""

from __future__ import annotations

import argparse
from typing import Any

from .. import raw
from . import declarations
from .output import add_json, columns, show

__all__ = ["add_parser"]

_KINDS = ("tables", "structs", "enums", "callbacks", "handles", "constants", "keys")


def add_parser(actions: Any) -> None:
    parser = actions.add_parser("ls", help="the function tables with counts, or the names of one kind")
    parser.add_argument("kind", nargs="?", choices=_KINDS, metavar="KIND", help=", ".join(_KINDS))
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    names = declarations.names()
    if args.kind:
        show(args, {"kind": args.kind, "names": names[args.kind]}, names[args.kind])
        return 0
    tables = [_table(name) for name in names["tables"]]
    counts = {kind: len(group) for kind, group in names.items()}
    counts["enumerators"] = sum(len(declarations.enum_values(name)) for name in names["enums"])
    document = {
        "headers_api_version": raw.HEADERS_API_VERSION,
        "generated_api_version": raw.GENERATED_API_VERSION,
        "tables": tables,
        "counts": counts,
    }
    show(args, document, _text(document))
    return 0


def _table(name: str) -> dict[str, Any]:
    slots = raw.slots(name)
    released = [slot.since for slot in slots if isinstance(slot.since, int)]
    return {
        "name": name,
        "members": len(slots),
        "oldest": min(released),
        "newest": max(released),
        "proposed": sum(slot.since == "proposed" for slot in slots),
        "placeholders": sum(slot.placeholder for slot in slots),
    }


def _text(document: dict[str, Any]) -> list[str]:
    rows: list[tuple[object, ...]] = [("table", "members", "since", "proposed", "placeholders")]
    for t in document["tables"]:
        span = f"1.{t['oldest']} to 1.{t['newest']}" if t["oldest"] != t["newest"] else f"1.{t['newest']}"
        rows.append((t["name"], t["members"], span, t["proposed"] or "", t["placeholders"] or ""))
    count = document["counts"]
    return [
        f"ONNX Runtime's C API up to 1.{document['generated_api_version']}, "
        f"from the headers of 1.{document['headers_api_version']} and what is known of later releases",
        "",
        *columns(rows, right=(1, 3, 4)),
        "",
        f"further: {count['structs']} structs, {count['enums']} enums with {count['enumerators']} values, "
        f"{count['callbacks']} callback types, {count['handles']} handles, {count['keys']} config keys, "
        f"{count['constants']} constant(s); `ortcache abi ls KIND` lists them",
    ]
