"""What changed between two header sets, and whether a program built against the old one still works with the new.

What only adds at the end is fine. A slot that is removed, inserted, moved or of another type, a value that changed,
a name that is gone: each is a break.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .changes import Change, function_change, since_change
from .diff_records import compare_record
from .model import Callback, Enum, Function, Header, Record

__all__ = ["compare"]

#: Category -> the attribute of `Header` that holds it.
_TABLES = {
    "struct": "records",
    "callback": "callbacks",
    "function": "functions",
    "enum": "enums",
    "handle": "handles",
    "typedef": "typedefs",
    "constant": "constants",
    "config key": "keys",
}


def compare(old: Header, new: Header) -> list[Change]:
    """Every change: by category, in the order of the old headers, what was added last."""
    before, after = _categories(old), _categories(new)
    changes: list[Change] = []
    for category, attribute in _TABLES.items():
        theirs = _table(new, attribute)
        for name, item in _table(old, attribute).items():
            if name not in after:
                changes.append(_removed(category, name, item, new))
            elif after[name] != category:
                changes.append(_became(old, new, name, category, after[name]))
            else:
                changes += _compare(category, name, item, theirs[name], old, new)
        changes += [Change("added", category, name, _text(item)) for name, item in theirs.items() if name not in before]
    return changes


def _table(header: Header, attribute: str) -> Mapping[str, Any]:
    items: dict[str, Any] | list[str] = getattr(header, attribute)
    return dict.fromkeys(items) if isinstance(items, list) else items


def _categories(header: Header) -> dict[str, str]:
    return {name: category for category, attribute in _TABLES.items() for name in _table(header, attribute)}


def _compare(category: str, name: str, ours: Any, theirs: Any, old: Header, new: Header) -> Iterator[Change]:
    match ours:
        case Record():
            yield from compare_record(old, new, ours, theirs)
        case Enum():
            yield from _enum(ours, theirs)
        case Callback():
            yield from _function(category, name, ours.type, theirs.type)
            if ours.since != theirs.since:
                yield Change("changed", category, name, since_change(ours.since, theirs.since))
        case Function():
            yield from _function(category, name, ours, theirs)
        case _ if repr(ours) != repr(theirs):  # 1 and 1.0 are equal and not the same
            detail = f"{_text(ours)} -> {_text(theirs)}"
            yield Change("changed", category, name, detail, breaking=name != "ORT_API_VERSION")


def _function(category: str, name: str, old: Function, new: Function) -> Iterator[Change]:
    found = function_change(old, new)
    if found:
        yield Change("changed", category, name, found[0], breaking=found[1])


def _enum(old: Enum, new: Enum) -> Iterator[Change]:
    for name, value in old.values.items():
        if name not in new.values:
            yield Change("removed", "enum", old.name, f"was {value}", name, breaking=True)
        elif new.values[name] != value:
            yield Change("changed", "enum", old.name, f"{value} -> {new.values[name]}", name, breaking=True)
    for name, value in new.values.items():
        if name not in old.values:
            yield Change("added", "enum", old.name, str(value), name)
    if old.flags != new.flags:
        detail = "a flags enum now" if new.flags else "no flags enum any more"
        yield Change("changed", "enum", old.name, f"{detail}: its Python class is another")
    if old.since != new.since:
        yield Change("changed", "enum", old.name, since_change(old.since, new.since))


def _removed(category: str, name: str, item: Any, new: Header) -> Change:
    skipped = f", and is no constant now: {new.skipped[name]}" if name in new.skipped else ""
    return Change("removed", category, name, f"was {_text(item)}{skipped}", breaking=True)


def _became(old: Header, new: Header, name: str, before: str, after: str) -> Change:
    """A name that stands for another kind of thing now."""
    detail = f"was a {before}, is a {after} now"
    if (before, after) == ("handle", "struct"):  # it was only ever used through pointers
        return Change("changed", before, name, f"{detail}: {_text(new.records[name])}")
    values = [(header.constants | header.keys).get(name) for header in (old, new)]
    same_value = {before, after} == {"constant", "config key"} and values[0] == values[1]
    return Change("changed", before, name, detail, breaking=not same_value)


def _text(item: Any) -> str:
    match item:
        case None:
            return "an opaque struct"
        case Record():
            return f"a {item.kind} of {len(item.members)} members"
        case Enum():
            return ", ".join(f"{name} = {value}" for name, value in item.values.items())
        case Callback():
            return str(item.type)
        case str() | int() | float():
            return repr(item)
    return str(item)
