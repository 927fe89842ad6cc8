"""``ortcache abi show NAME``: one declaration, by its C name or a config key's text."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable
from typing import Any

from .. import raw
from ..errors import InputError
from ..raw import _declarations as declared
from ..raw import constants
from . import declarations
from .declarations import member, since_text
from .output import add_json, columns, show

__all__ = ["add_parser"]


def add_parser(actions: Any) -> None:
    parser = actions.add_parser(
        "show", help="one struct, function, enum, callback, handle, constant or config key, with its C signature"
    )
    parser.add_argument("name", metavar="NAME", help="a C name such as OrtApi, Run, OrtApi.Run, or a config key's text")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    found = _find(lambda name: name == args.name) or _find(lambda name: name.lower() == args.name.lower())
    if not found:
        close = declarations.close_names(args.name)
        hint = f"did you mean {', '.join(close)}?" if close else "`ortcache abi ls KIND` lists the names"
        raise InputError(f"nothing is declared as {args.name!r}; {hint}")
    lines: list[str] = []
    for document in found:
        lines += [*([""] if lines else []), *_TEXT[document["kind"]](document)]
    show(args, found, lines)
    return 0


def _find(matches: Callable[[str], bool]) -> list[dict[str, Any]]:
    """Every declaration that goes by the name: a function name may stand in several structs."""
    found: list[dict[str, Any]] = []
    for struct in declared.STRUCTS:
        slots = [member(struct, index, slot) for index, slot in enumerate(raw.slots(struct))]
        if matches(struct):
            found.append({"kind": "struct", "name": struct, "members": slots})
        found += [{"kind": "member", **m} for m in slots if matches(m["name"]) or matches(f"{struct}.{m['name']}")]
    for enum in declared.ENUMS:
        values = declarations.enum_values(enum)
        if matches(enum):
            found.append({"kind": "enum", "name": enum, "values": values})
        found += [
            {"kind": "enumerator", "name": label, "enum": enum, "value": value}
            for label, value in values.items()
            if matches(label)
        ]
    for name, (convention, returns, params) in declared.CALLBACKS.items():
        if matches(name):
            signature = f"{returns} (*{name})({params})"
            found.append({"kind": "callback", "name": name, "convention": convention, "signature": signature})
    handles = filter(matches, sorted(declared.HANDLES))
    found += [{"kind": "handle", "name": name, "functions": _using(name)} for name in handles]
    for name in constants.__all__:
        value = getattr(constants, name)
        if matches(name) or (isinstance(value, str) and matches(value)):
            found.append({"kind": "key" if isinstance(value, str) else "constant", "name": name, "value": value})
    return found


def _using(handle: str) -> list[dict[str, Any]]:
    """The functions that take or give a handle."""
    word = re.compile(rf"\b{handle}\b")
    return [
        member(table, index, slot)
        for table in declarations.FUNCTION_TABLES
        for index, slot in enumerate(raw.slots(table))
        if word.search(slot.signature)
    ]


def _member_rows(members: list[dict[str, Any]]) -> list[str]:
    rows = [(m["index"], since_text(m["since"]), declarations.text(m)) for m in members]
    return columns([("index", "since", "member"), *rows], right=(0,))


def _struct(document: dict[str, Any]) -> list[str]:
    members = document["members"]
    return [f"struct {document['name']}: {len(members)} members", *_member_rows(members)]


def _member(document: dict[str, Any]) -> list[str]:
    since = document["since"]
    note = {"proposed": "proposed, in no release", None: "since-version not known"}.get(since, f"since 1.{since}")
    if document["name"].startswith("placeholder_"):
        note += "; keeps the layout, its name or parameters are not known"
    where = f"{document['struct']}.{document['name']}: index {document['index']}, {note}"
    return [where, f"  {document['signature']}"]


def _enum(document: dict[str, Any]) -> list[str]:
    values = document["values"]
    rows = columns([(f"  {value}", label) for label, value in values.items()], right=(0,))
    return [f"enum {document['name']}: {len(values)} values", *rows]


def _handle(document: dict[str, Any]) -> list[str]:
    functions = document["functions"]
    rows = [(f"  {f['struct']}", since_text(f["since"]), f["signature"]) for f in functions]
    return [f"handle {document['name']}: {len(functions)} functions take or give it", *(columns(rows) if rows else [])]


_TEXT: dict[str, Callable[[dict[str, Any]], list[str]]] = {
    "struct": _struct,
    "member": _member,
    "enum": _enum,
    "enumerator": lambda d: [f"{d['name']} = {d['value']} in enum {d['enum']}"],
    "callback": lambda d: [f"callback {d['name']} ({d['convention']})", f"  {d['signature']}"],
    "handle": _handle,
    "constant": lambda d: [f"constant {d['name']} = {d['value']!r}"],
    "key": lambda d: [f'config key {d["name"]} = "{d["value"]}"'],
}
