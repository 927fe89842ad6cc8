r"""Since-versions: from ``\since`` in the headers' comments, checked against what releases are known to have held.

A slot that says nothing of itself gets the version of the first release whose table was long enough
(`headers/tables.toml`, measured), else its record's version. What stays unknown stays None.
"""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_right
from collections.abc import Iterable, Mapping
from pathlib import Path

from .errors import Coord
from .model import Header, Member, Record

__all__ = ["SINCE", "Comments", "Tables", "assign_since", "load_tables"]

SINCE = re.compile(r"[\\@]since\s+(?:ORT\s+|ONNX\s+Runtime\s+|version\s+|release\s+)*v?1\.(\d+)", re.IGNORECASE)

#: Record -> API version -> how many members it had.
Tables = Mapping[str, Mapping[int, int]]

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


class Comments:
    """The comments of header files, by the line that they end on."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.by_file: dict[str, list[tuple[int, int, str]]] = {}
        for name, text in texts.items():
            starts = [0, *(m.end() for m in re.finditer("\n", text))]
            found = []
            for match in _COMMENT.finditer(text):
                if match[0][0] == "/":
                    first = bisect_right(starts, match.start())
                    found.append((first, bisect_right(starts, match.end() - 1), match[0]))
            self.by_file[name] = found

    def before(self, coord: Coord, after_line: int) -> str:
        """The comments between two lines of a file, and what trails on the second."""
        return "\n".join(
            text
            for first, last, text in self.by_file.get(coord.file, [])
            if first > after_line and first <= coord.line and (last <= coord.line or first == coord.line)
        )

    def last_before(self, coord: Coord) -> str:
        """The comment that ends on the line before, or on this one."""
        for _first, last, text in reversed(self.by_file.get(coord.file, [])):
            if last <= coord.line:
                return text if last >= coord.line - 1 else ""
        return ""


def load_tables(path: Path) -> dict[str, dict[int, int]]:
    """Read ``headers/tables.toml``."""
    data = tomllib.loads(path.read_text("utf-8"))
    return {record: {int(v): n for v, n in sizes.items()} for record, sizes in data.items()}


def assign_since(
    header: Header, texts: Mapping[str, str], tables: Tables, older: Iterable[Header] = ()
) -> list[str]:
    """Give every slot its since-version, in place.

    Args:
        texts: the headers' text, by file name.
        tables: the measured sizes.
        older: snapshots of earlier releases: what they hold is no newer than they are, what they lack is newer.

    Returns:
        What the comments got wrong, a line each: the releases are what a binary was built from, so they win.
    """
    comments = Comments(texts)
    notes: list[str] = []
    for record in header.records.values():
        if record.coord:
            record.since = _version(comments.last_before(record.coord))
        _members(record, comments, tables.get(record.name, {}), notes)
        if record.since is None:
            known = [m.since for m in record.members if m.since is not None]
            record.since = min(known, default=None)
    for snapshot in sorted(older, key=lambda h: h.api_version):
        notes += _compare(header, snapshot)
    for named in (*header.enums.values(), *header.callbacks.values()):
        if named.coord:
            named.since = _version(comments.last_before(named.coord))
    return notes


def _members(record: Record, comments: Comments, sizes: Mapping[int, int], notes: list[str]) -> None:
    previous = record.coord.line if record.coord else 0
    for index, member in enumerate(record.members):
        said = None
        if member.coord:
            said = _version(comments.before(member.coord, previous))
            previous = member.coord.line
        measured = _measured(index, sizes)
        member.since = measured if measured is not None else said
        if None not in (said, measured) and said != measured:
            notes.append(
                f"{member.coord}: {record.name}.{member.name} says it is there since 1.{said}; "
                f"the headers of 1.{measured} hold it first"
            )
    _fill(record.members, record.since)


def _compare(header: Header, older: Header) -> list[str]:
    notes = []
    for record in header.records.values():
        before = older.records.get(record.name)
        for member in record.members if before else ():
            held = before.find(member.name) if before else None
            if held and held[1].since is not None and member.since is None:
                member.since = held[1].since
            wrong = member.since is not None and (held is not None) == (member.since > older.api_version)
            if wrong:
                has = "holds" if held else "does not hold"
                notes.append(f"{record.name}.{member.name} is since 1.{member.since}, but the 1.{older.api_version} "
                             f"snapshot {has} it")
                member.since = older.api_version if held else older.api_version + 1
    return notes


def _fill(members: list[Member], floor: int | None) -> None:
    """In an append-only table nothing is older than what stands before it."""
    for member in members:
        if member.since is None:
            member.since = floor
        elif floor is None or member.since > floor:
            floor = member.since


def _measured(index: int, sizes: Mapping[int, int]) -> int | None:
    """The first release whose table reaches the index; None where the releases before it were not measured."""
    versions = sorted(sizes)
    for i, version in enumerate(versions):
        if sizes[version] > index:
            complete = i == 0 or versions[i - 1] == version - 1
            return version if complete else None
    return None


def _version(comment: str) -> int | None:
    found = SINCE.findall(comment)
    return int(found[-1]) if found else None
