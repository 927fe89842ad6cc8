"""A change between two header sets, and how a list of them reads as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Literal

from .model import Function, Header

__all__ = ["Change", "function_change", "since_change", "to_json", "to_text"]

Kind = Literal["added", "removed", "moved", "renamed", "changed"]

_MARKS = {"added": "+", "removed": "-", "moved": "~", "renamed": "~", "changed": "~"}


@dataclass(frozen=True)
class Change:
    """One difference.

    ``name`` is the struct, enum, constant and so on; ``member`` the slot, field or enumerator in it, with its
    ``index`` in the new set (in the old one where it was removed). ``breaking`` is a change that is not append-only.
    """

    kind: Kind
    category: str
    name: str
    detail: str
    member: str | None = None
    index: int | None = None
    breaking: bool = False

    @property
    def place(self) -> str:
        """Where it is, in short."""
        if self.member is None:
            return self.name
        return f"{self.name}.{self.member}" if self.index is None else f"{self.name}[{self.index}].{self.member}"


def function_change(old: Function, new: Function) -> tuple[str, bool] | None:
    """What differs between two function types, and whether that breaks; None where nothing does."""
    if old == new:
        return None
    if not old.same_abi(new):
        hint = ""
        if old.convention != new.convention:
            hint = " (another calling convention: it differs on 32-bit Windows)"
        elif str(old).replace("const ", "").replace(" const", "") == str(new).replace("const ", "").replace(
            " const", ""
        ):
            hint = " (const alone: the binary interface is the same, the signature is not)"
        return f"{old} -> {new}{hint}", True
    names = [f"{a.name} -> {b.name}" for a, b in zip(old.params, new.params, strict=True) if a.name != b.name]
    return f"parameters renamed: {', '.join(names)}", False


def since_change(old: int | None, new: int | None) -> str:
    told = [f"1.{since}" if since is not None else "unknown" for since in (old, new)]
    return f"since {told[0]} -> {told[1]}"


def to_json(old: Header, new: Header, changes: Sequence[Change]) -> str:
    """The changes for scripts."""
    sides = {
        name: {"release": header.release, "api_version": header.api_version, "sources": header.sources}
        for name, header in (("old", old), ("new", new))
    }
    breaks = sum(change.breaking for change in changes)
    result = {**sides, "append_only": not breaks, "breaks": breaks, "changes": [asdict(change) for change in changes]}
    return json.dumps(result, indent=1, ensure_ascii=False)


def to_text(old: Header, new: Header, changes: Sequence[Change]) -> str:
    """The changes for people: breaks are marked with ``!`` and named again at the end."""
    lines = [f"{_named(old)} -> {_named(new)}"]
    heading = None
    for change in changes:
        if (change.category, change.name) != heading and change.member is not None:
            lines.append(f"{change.category} {change.name}")
        heading = (change.category, change.name) if change.member is not None else None
        lines.append(_line(change))
    lines.append(_summary(changes))
    return "\n".join(lines)


def _named(header: Header) -> str:
    return f"{header.release} (API version {header.api_version})"


def _line(change: Change) -> str:
    mark = ("! " if change.breaking else "  ") + _MARKS[change.kind]
    if change.member is None:
        return f"{mark} {change.category} {change.name}: {change.detail}"
    index = "" if change.index is None else f"[{change.index}] "
    return f"  {mark} {index}{change.member}: {change.detail}"


def _summary(changes: Sequence[Change]) -> str:
    if not changes:
        return "no change"
    counts = _counts(change.kind for change in changes)
    breaks = [change for change in changes if change.breaking]
    if not breaks:
        return f"append-only: {counts}"
    named = "".join(f"\n  {change.place}: {change.kind}" for change in breaks)
    return f"NOT append-only: {counts}; {len(breaks)} {'break' if len(breaks) == 1 else 'breaks'}:{named}"


def _counts(kinds: Iterable[Kind]) -> str:
    found = list(kinds)
    return ", ".join(f"{found.count(kind)} {kind}" for kind in _MARKS if kind in found)
