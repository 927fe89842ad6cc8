r"""Since-versions: from older snapshots, measured table sizes and ``\since`` in the headers' comments.

A since-version belongs to a member at its index: that is what a caller relies on. A slot that nothing is known of
gets what stands before it in its table. What stays unknown stays None.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .comments import Comments, since_in
from .errors import GenError
from .model import Callback, Enum, Header, Record

__all__ = ["Tables", "assign_since", "load_tables"]

#: Record -> API version -> how many members it had.
Tables = Mapping[str, Mapping[int, int]]


@dataclass(frozen=True)
class _Known:
    """What one older release says of an item."""

    release: int
    held: bool
    since: int | None = None


def load_tables(path: Path) -> dict[str, dict[int, int]]:
    """Read ``headers/tables.toml``."""
    try:
        data = tomllib.loads(path.read_text("utf-8"))
        return {record: {int(v): int(n) for v, n in sizes.items()} for record, sizes in data.items()}
    except (ValueError, AttributeError, TypeError) as error:
        raise GenError(f"{path} is damaged: {error}") from error


def assign_since(header: Header, texts: Mapping[str, str], tables: Tables, older: Iterable[Header] = ()) -> list[str]:
    """Give every slot, struct, enum and callback its since-version, in place.

    What an older snapshot says of a slot comes first, then the measured sizes, then the comments. What an older
    snapshot lacks is newer than it, whatever the rest says.

    Args:
        texts: the headers' text, by file name.
        tables: the measured sizes.
        older: snapshots of other releases; those that are not older are passed over.

    Returns:
        What the comments or the measured sizes got wrong, a line each.
    """
    comments = Comments(texts)
    notes: list[str] = []
    version = header.api_version
    before = sorted((h for h in older if h.api_version < version), key=lambda h: h.api_version)
    for record in header.records.values():
        _record(record, version, comments, tables.get(record.name, {}), before, notes)
    named: list[Enum | Callback] = [*header.enums.values(), *header.callbacks.values()]
    for item in named:
        said = since_in(comments.last_before(item.coord)) if item.coord else None
        if said is not None:  # nothing is called through a type: there an unknown version may stay unknown
            item.since = _bounded(said, version, [_known(h, item) for h in before], item.name, notes)
    return notes


def _record(
    record: Record,
    version: int,
    comments: Comments,
    measured_sizes: Mapping[int, int],
    before: Sequence[Header],
    notes: list[str],
) -> None:
    moved = [m.name for i, m in enumerate(record.members) if before and _moved(before[-1], record.name, m.name, i)]
    sizes = {} if moved else _usable(record, version, measured_sizes, notes)
    record.since = floor = since_in(comments.last_before(record.coord)) if record.coord else None
    previous = record.coord.line if record.coord else 0
    for index, member in enumerate(record.members):
        said = None
        if member.coord:
            said = since_in(comments.before(member.coord, previous))
            previous = member.coord.line
        measured = _measured(index, sizes)
        since = said if measured is None else measured
        known = [_known_member(h, record.name, member.name, index) for h in before]
        quiet = since is None or member.name in moved
        # In an append-only table nothing is older than what stands before it.
        guess = floor if since is None else since
        where = f"{record.name}.{member.name}"
        member.since = _bounded(guess, version, known, where, [] if quiet else notes)
        if not quiet and since != said is not None and said != member.since:
            notes.append(f"{where} says it is there since 1.{said}; the headers of 1.{member.since} hold it first")
        if member.since is not None and (floor is None or member.since > floor):
            floor = member.since
    if moved:
        notes.append(
            f"{record.name}: {len(moved)} members ({moved[0]} to {moved[-1]}) stand at another index than in "
            f"1.{before[-1].api_version}: they count as new in 1.{version}"
        )
    if record.since is None:
        record.since = min((m.since for m in record.members if m.since is not None), default=None)


def _known(header: Header, item: Enum | Callback) -> _Known:
    held = header.enums.get(item.name) if isinstance(item, Enum) else header.callbacks.get(item.name)
    return _Known(header.api_version, held is not None, held.since if held else None)


def _known_member(header: Header, record: str, name: str, index: int) -> _Known:
    members = header.records[record].members if record in header.records else []
    held = index < len(members) and members[index].name == name
    return _Known(header.api_version, held, members[index].since if held else None)


def _moved(header: Header, record: str, name: str, index: int) -> bool:
    found = header.records[record].find(name) if record in header.records else None
    return found is not None and found[0] != index


def _bounded(since: int | None, version: int, known: Sequence[_Known], where: str, notes: list[str]) -> int | None:
    """The since-version, held against what older releases (oldest first) are known to have had."""
    lacking = max((k.release for k in known if not k.held), default=0)
    holding = [k for k in known if k.release > lacking]
    for release in reversed(holding):
        if release.since is not None and release.since > lacking:
            return release.since
    newest = holding[0].release if holding else version
    if since is None:
        return newest if lacking else None
    if lacking < since <= newest:
        return since
    wrong = f"the 1.{lacking} headers lack it" if since <= lacking else f"the 1.{newest} headers hold it"
    notes.append(f"{where} is there since 1.{since} by its place or comment, but {wrong}")
    # The latest that it can be: a slot must never be called on a library that lacks it.
    return newest


def _usable(record: Record, version: int, sizes: Mapping[int, int], notes: list[str]) -> Mapping[int, int]:
    """The measured sizes, unless this table is not one of those that were measured: then an index says nothing."""
    size = len(record.members)
    fewer = max((n for v, n in sizes.items() if v <= version), default=0)
    more = min((n for v, n in sizes.items() if v >= version), default=None)
    if fewer <= size and (more is None or size <= more):
        return sizes
    expected = f"at least {fewer}" if more is None else str(more) if fewer == more else f"{fewer} to {more}"
    notes.append(
        f"{record.name} has {size} members, but a release 1.{version} has {expected}: "
        "the measured sizes say nothing of these headers"
    )
    return {}


def _measured(index: int, sizes: Mapping[int, int]) -> int | None:
    """The first release whose table reaches the index; None where the releases before it were not measured."""
    versions = sorted(sizes)
    for i, version in enumerate(versions):
        if sizes[version] > index:
            complete = i == 0 or versions[i - 1] == version - 1
            return version if complete else None
    return None
