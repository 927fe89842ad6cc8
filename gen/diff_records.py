"""What changed in one struct or union: its members, their order, and the size that what embeds it relies on."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from .changes import Change, function_change, since_change
from .model import CType, Function, Header, Member, Record
from .sizes import MODELS, layout

__all__ = ["compare_record"]


def compare_record(old: Header, new: Header, before: Record, after: Record) -> Iterator[Change]:
    """The changes of one struct that both header sets declare."""
    name = before.name
    if before.kind != after.kind:
        yield Change("changed", "struct", name, f"was a {before.kind}, is a {after.kind} now", breaking=True)
    if before.pack != after.pack:
        packs = [f"packed to {r.pack}" if r.pack is not None else "not packed" for r in (before, after)]
        yield Change("changed", "struct", name, f"{packs[0]} -> {packs[1]}", breaking=True)
    yield from _members(before, after)
    if _own(before) != _own(after):  # where it is what it embeds that grew, that is named already
        yield from _size(old, new, before, after)


def _own(record: Record) -> tuple[object, ...]:
    return record.kind, record.pack, [(m.name, m.type, m.bits) for m in record.members]


def _members(before: Record, after: Record) -> Iterator[Change]:
    ordered = "struct" in (before.kind, after.kind)  # in a union, all stand at the same place
    old = {m.name: i for i, m in enumerate(before.members)}
    new = {m.name: i for i, m in enumerate(after.members)}
    renamed = _renamed(before, after) if ordered else {}
    common = [name for name in old if name in new]
    still = _longest_rising([new[name] for name in common]) if ordered else set(new.values())
    shifted = []
    for name, index in old.items():
        member = before.members[index]
        if name in renamed:
            detail = f"is called {renamed[name]} now, same type"
            yield _change("renamed", before, member, detail, index, breaking=True)
        elif name not in new:
            yield _change("removed", before, member, f"was {member.type}", index, breaking=True)
        else:
            place, theirs = new[name], after.members[new[name]]
            if place not in still:
                yield _change("moved", before, member, f"stood at index {index}", place, breaking=True)
            elif ordered and place != index:
                shifted.append(member)
            yield from _member(before, member, theirs, place, same_place=place == index)
    if shifted:
        yield Change(
            "moved",
            "struct",
            before.name,
            _shift(shifted, old, new),
            shifted[0].name,
            new[shifted[0].name],
            breaking=True,
        )
    last = max((new[name] for name in common), default=-1)
    for name, index in new.items():
        if name not in old and name not in renamed.values():
            at_end = not ordered or (index >= len(old) and index > last)
            member = after.members[index]
            where = "" if at_end else ", inserted before what was there"
            since = f"since 1.{member.since}" if member.since is not None else "since unknown"
            yield _change("added", after, member, f"{member.type}, {since}{where}", index, breaking=not at_end)


def _change(kind: str, record: Record, member: Member, detail: str, index: int, breaking: bool) -> Change:
    return Change(kind, "struct", record.name, detail, member.name, index, breaking)  # type: ignore[arg-type]


def _shift(shifted: list[Member], old: dict[str, int], new: dict[str, int]) -> str:
    first = shifted[0].name
    if len(shifted) == 1:
        return f"stood at index {old[first]}"
    return (
        f"this and {len(shifted) - 1} more, to {shifted[-1].name}, stand elsewhere: index {old[first]} -> {new[first]}"
    )


def _member(record: Record, old: Member, new: Member, index: int, same_place: bool) -> Iterator[Change]:
    if isinstance(old.type, Function) and isinstance(new.type, Function):
        found = function_change(old.type, new.type)
        if found:
            yield _change("changed", record, old, found[0], index, breaking=found[1])
    elif (old.type, old.bits) != (new.type, new.bits):
        texts = [f"{m.type}{'' if m.bits is None else f':{m.bits}'}" for m in (old, new)]
        yield _change("changed", record, old, f"{texts[0]} -> {texts[1]}", index, breaking=True)
    if old.since != new.since and same_place:  # at another place it is another slot
        yield _change("changed", record, old, since_change(old.since, new.since), index, breaking=False)


def _renamed(before: Record, after: Record) -> dict[str, str]:
    """Members that kept place and type and got another name: the layout stands, the source does not."""
    pairs = zip(before.members, after.members, strict=False)
    return {
        a.name: b.name
        for a, b in pairs
        if a.name != b.name
        and not after.find(a.name)
        and not before.find(b.name)
        and (a.type.same_abi(b.type) if isinstance(a.type, Function) else (a.type, a.bits) == (b.type, b.bits))
    }


def _longest_rising(indices: list[int]) -> set[int]:
    """The largest set of members that kept their order: the others are those that moved."""
    tails: list[int] = []  # the smallest last index of a rising run of each length
    runs: list[list[int]] = []
    for index in indices:
        at = bisect_left(tails, index)
        run = [*(runs[at - 1] if at else []), index]
        tails[at : at + 1] = [index]
        runs[at : at + 1] = [run]
    return set(runs[-1]) if runs else set()


def _size(old: Header, new: Header, before: Record, after: Record) -> Iterator[Change]:
    """A struct that grew is fine behind a pointer. Embedded by value, it moves what comes after it."""
    grown = []
    for model in MODELS:
        sizes = layout(old, before, model), layout(new, after, model)
        if sizes[0] != sizes[1]:
            grown.append(f"{sizes[0][0]} -> {sizes[1][0]} bytes ({model.name})")
    if not grown:
        return
    users = sorted(_embedding(old, before.name))
    if users:
        detail = f"{grown[0]}, and it is embedded by value in {', '.join(users)}"
        yield Change("changed", "struct", before.name, detail, breaking=True)
    elif before.kind == "struct" and _made_by_callers(before):
        yield Change("changed", "struct", before.name, f"{grown[0]}: a caller that was built before has a smaller one")


def _made_by_callers(record: Record) -> bool:
    """A struct of data without a version in front: nothing tells the library how large a caller's is."""
    first = record.members[0]
    return not any(isinstance(m.type, Function) for m in record.members) and "version" not in first.name


def _embedding(header: Header, name: str) -> set[str]:
    """The structs and functions that have the record by value, directly or through another."""
    users: set[str] = set()
    for record in header.records.values():
        if any(isinstance(m.type, CType) and _by_value(m.type, name) for m in record.members):
            users |= {record.name} | _embedding(header, record.name)
        for member in record.members:
            if isinstance(member.type, Function) and _passes(member.type, name):
                users.add(f"{record.name}.{member.name}")
    callables = {**{c.name: c.type for c in header.callbacks.values()}, **header.functions}
    return users | {user for user, kind in callables.items() if _passes(kind, name)}


def _passes(kind: Function, name: str) -> bool:
    return any(_by_value(t, name) for t in (kind.returns, *(p.type for p in kind.params)))


def _by_value(kind: CType, name: str) -> bool:
    return kind.base == name and not kind.pointers
