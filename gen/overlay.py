r"""Overlays: C headers of our own, laid over a snapshot.

A struct that the snapshot holds too is an extension: its members are appended to the snapshot's. What a member is
stands in its comment: ``\index N`` with ``\since 1.N`` for one that a release has, ``\placeholder`` for one that only
keeps the layout, ``\proposed`` for one that no release has.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from pathlib import Path

from .errors import GenError, OverlayError
from .model import CType, Header, Member, Record
from .parse import parse
from .preprocess import Preprocessed, preprocess, preprocess_text
from .since import SINCE, Comments

__all__ = ["Overlay", "apply", "generated_version", "read_overlay", "read_overlay_text"]

_INDEX = re.compile(r"\\index\s+(\d+)")


@dataclass
class _Entry:
    record: str
    member: Member
    index: int | None  # None: after whatever stands last


@dataclass
class Overlay:
    """An overlay as read: new declarations, and members to append."""

    name: str
    source: Preprocessed

    def declarations(self, base: Header) -> Header:
        return parse(self.source, base)


def read_overlay(path: Path) -> Overlay:
    return Overlay(path.name, preprocess([path]))


def read_overlay_text(text: str, name: str) -> Overlay:
    return Overlay(name, preprocess_text(text, name))


def apply(base: Header, overlay: Overlay) -> tuple[Header, list[str]]:
    """Lay an overlay over a header set.

    Returns:
        The result (``base`` itself is left alone), and a line for each entry that stepped aside.

    Raises:
        OverlayError: the headers hold the same name with another signature or index, or the overlay's indices do
            not continue the headers' table.
    """
    header = copy.deepcopy(base)
    added = overlay.declarations(base)
    comments = Comments(overlay.source.texts)
    notes: list[str] = []
    _types(header, added, overlay.name, comments, notes)
    for record in added.records.values():
        if record.name not in base.records:
            header.records[record.name] = record
            continue
        for entry in _entries(record, comments):
            _append(header.records[record.name], entry, overlay.name, notes)
    return header, notes


def _types(header: Header, added: Header, name: str, comments: Comments, notes: list[str]) -> None:
    header.handles += [h for h in added.handles if not header.knows(h)]
    for callback in added.callbacks.values():
        held = header.callbacks.setdefault(callback.name, callback)
        if held is callback:
            found = SINCE.search(comments.last_before(callback.coord)) if callback.coord else None
            callback.since = int(found[1]) if found else None
        elif not held.type.same_abi(callback.type):
            raise OverlayError(f"{callback.coord}: {callback.name} is {callback.type} here and {held.type} upstream")
        else:
            notes.append(f"{name}: {callback.name} steps aside: the imported headers hold it")
    for enum in added.enums.values():
        held_enum = header.enums.setdefault(enum.name, enum)
        if held_enum is not enum:
            if held_enum.values != enum.values:
                raise OverlayError(f"{enum.coord}: {enum.name} is {enum.values} here and {held_enum.values} upstream")
            notes.append(f"{name}: {enum.name} steps aside: the imported headers hold it")
    header.sources |= added.sources


def _entries(record: Record, comments: Comments) -> list[_Entry]:
    entries = []
    previous = record.coord.line if record.coord else 0
    for member in record.members:
        assert member.coord is not None
        comment = comments.before(member.coord, previous)
        previous = member.coord.line
        entries.append(_entry(record.name, member, comment))
    return entries


def _entry(record: str, member: Member, comment: str) -> _Entry:
    where = f"{member.coord}: {record}.{member.name}"
    index, since = _INDEX.search(comment), SINCE.search(comment)
    if r"\proposed" in comment:
        if index or since:
            raise OverlayError(rf"{where} is \proposed: it can have no \index and no \since")
        member.status = "proposed"
        return _Entry(record, member, None)
    if not index or not since:
        raise OverlayError(rf"{where} needs \index and \since in its comment, or \proposed")
    member.since = int(since[1])
    if r"\placeholder" in comment:
        if member.type != CType("void", pointers=(False,)):
            raise OverlayError(f"{where} is a placeholder: declare it void*")
        member.status = "placeholder"
    return _Entry(record, member, int(index[1]))


def _append(record: Record, entry: _Entry, overlay: str, notes: list[str]) -> None:
    member = entry.member
    where = f"{member.coord}: {record.name}.{member.name}"
    held = record.find(member.name)
    if held:
        _check_same(held, entry, where)
        notes.append(f"{overlay}: {record.name}.{member.name} steps aside: the imported headers hold it")
    elif entry.index is None:
        record.members.append(member)
    elif entry.index < len(record.members):
        other = record.members[entry.index]
        if member.status != "placeholder":
            raise OverlayError(f"{where} has index {entry.index}, but the imported headers hold {other.name} there")
        notes.append(f"{overlay}: {record.name}.{member.name} steps aside: the imported headers call it {other.name}")
    elif entry.index > len(record.members):
        raise OverlayError(
            f"{where} has index {entry.index}, but the imported headers end at {len(record.members)}: "
            "import newer headers, or build without this overlay"
        )
    else:
        record.members.append(member)


def _check_same(held: tuple[int, Member], entry: _Entry, where: str) -> None:
    index, member = held
    if entry.index is not None and index != entry.index:
        raise OverlayError(f"{where} has index {entry.index} here and {index} in the imported headers")
    if not member.same_abi(entry.member):
        raise OverlayError(f"{where} is {entry.member.type} here and {member.type} in the imported headers")


def generated_version(header: Header) -> int:
    """The highest since-version of any slot: what the bindings know of ORT."""
    versions = [m.since for r in header.records.values() for m in r.members if m.since is not None]
    if not versions:
        raise GenError("no slot has a since-version")
    return max(versions)
