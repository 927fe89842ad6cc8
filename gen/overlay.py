r"""Overlays: C headers of our own, laid over a snapshot.

A struct that the snapshot holds too is an extension: its members are appended to the snapshot's. What a member is
stands in its comment: ``\index N`` with ``\since 1.N`` for one that a release has, ``\placeholder`` for one that only
keeps the layout, ``\proposed`` for one that no release has. A struct whose members say nothing of the kind is a
declaration like any other. Whatever the snapshot declares itself steps aside.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from .comments import Comments, since_in
from .entries import Entry, is_marked, read_entry
from .errors import OverlayError
from .model import Callback, Enum, Header, Member, Record
from .parse import parse
from .preprocess import Preprocessed, preprocess, preprocess_text

__all__ = ["Overlay", "apply", "generated_version", "read_overlay", "read_overlay_text"]


@dataclass
class Overlay:
    """An overlay as read."""

    name: str
    source: Preprocessed


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
    laying = _Laying(base.copy(), overlay)
    laying.declarations(parse(overlay.source, _without_redeclared(base, overlay)))
    return laying.header, laying.notes


def generated_version(header: Header) -> int:
    """The highest since-version of any slot: what the bindings know of ORT."""
    versions = (m.since for r in header.records.values() for m in r.members if m.since is not None)
    return max(versions, default=header.api_version)


def _without_redeclared(base: Header, overlay: Overlay) -> Header:
    """What the overlay may build on. Its own enums and callback types are read first and compared after that."""
    words = [token.text for token in overlay.source.tokens]
    enums = {
        name
        for before, name, after in zip(words, words[1:], words[2:], strict=False)
        if (before, after) == ("enum", "{")
    }
    pointers = {words[i + 1] for i in range(len(words) - 3) if words[i] == "*" and words[i + 2 : i + 4] == [")", "("]}
    return replace(
        base,
        enums={name: enum for name, enum in base.enums.items() if name not in enums},
        callbacks={name: callback for name, callback in base.callbacks.items() if name not in pointers},
    )


class _Laying:
    def __init__(self, header: Header, overlay: Overlay) -> None:
        self.header = header
        self.overlay = overlay
        self.comments = Comments(overlay.source.texts)
        self.notes: list[str] = []

    def declarations(self, added: Header) -> None:
        header = self.header
        self.handles(added)
        for enum in added.enums.values():
            enum.since = self.since(enum)
            self.declare("enums", enum.name, enum, _same_values)
        for callback in added.callbacks.values():
            callback.since = self.since(callback)
            self.declare("callbacks", callback.name, callback, lambda ours, theirs: ours.type.same_abi(theirs.type))
        for name, function in added.functions.items():
            self.declare("functions", name, function, lambda ours, theirs: ours.same_abi(theirs))
        for name, target in added.typedefs.items():
            self.declare("typedefs", name, target, lambda ours, theirs: ours == theirs)
        for name, value in (added.constants | added.keys).items():
            theirs = (header.constants | header.keys).get(name, value)
            if theirs != value:
                raise OverlayError(f"{self.overlay.name}: {name} is {value!r} here and {theirs!r} upstream")
            self.declare("constants" if name in added.constants else "keys", name, value, lambda ours, theirs: True)
        for record in added.records.values():
            self.record(record)
        header.skipped = added.skipped | header.skipped
        header.sources |= added.sources

    def since(self, item: Enum | Callback | Record) -> int | None:
        return since_in(self.comments.last_before(item.coord)) if item.coord else None

    def aside(self, what: str, how: str = "hold it") -> None:
        self.notes.append(f"{self.overlay.name}: {what} steps aside: the imported headers {how}")

    def declare(self, table: str, name: str, ours: Any, same: Callable[[Any, Any], bool]) -> None:
        """Add a declaration, unless the headers hold it already."""
        held: dict[str, Any] = getattr(self.header, table)
        at = getattr(ours, "coord", None) or self.overlay.name
        if name not in held:
            self.refuse_other_kind(name, at)
            held[name] = ours
        elif same(ours, held[name]):
            self.aside(name)
        else:
            raise OverlayError(f"{at}: {name} is {_text(ours)} here and {_text(held[name])} upstream")

    def refuse_other_kind(self, name: str, at: object) -> None:
        if self.header.knows(name) or name in self.header.typedefs:
            raise OverlayError(f"{at}: {name} is something else upstream")

    def handles(self, added: Header) -> None:
        self.header.handles += added.handles
        words = [token.text for token in self.overlay.source.tokens]
        for i, word in enumerate(words):  # what the headers hold as well does not come out of the parser as added
            if word == "typedef" and words[i + 1] == "struct" and words[i + 3 : i + 5] == [words[i + 2], ";"]:
                name = words[i + 2]
                if name not in self.header.handles and name not in self.header.records and name not in added.records:
                    self.refuse_other_kind(name, self.overlay.name)
                elif name not in added.handles and name not in added.records:
                    self.aside(name)

    def record(self, record: Record) -> None:
        held = self.header.records.get(record.name)
        if held is None:
            record.since = self.since(record)
            for member, comment in self.commented(record):
                member.since = since_in(comment) or record.since
            self.header.handles = [name for name in self.header.handles if name != record.name]
            self.refuse_other_kind(record.name, record.coord)
            self.header.records[record.name] = record
            return
        entries = list(self.commented(record))
        if not any(is_marked(comment) for _, comment in entries):
            self.whole(record, held)
            return
        for member, comment in entries:
            self.append(held, read_entry(record.name, member, comment))

    def commented(self, record: Record) -> list[tuple[Member, str]]:
        previous = record.coord.line if record.coord else 0
        found = []
        for member in record.members:
            assert member.coord is not None
            found.append((member, self.comments.before(member.coord, previous)))
            previous = member.coord.line
        return found

    def whole(self, record: Record, held: Record) -> None:
        """A struct that is not an extension: all of it is upstream's, or it is an error."""
        same = (record.kind, record.pack, len(record.members)) == (held.kind, held.pack, len(held.members))
        if not same or not all(a.same_abi(b) for a, b in zip(record.members, held.members, strict=True)):
            raise OverlayError(
                f"{record.coord}: struct {record.name} has other members upstream. If this extends it, each member "
                r"needs \index and \since in its comment, or \proposed"
            )
        self.aside(f"struct {record.name}")

    def append(self, record: Record, entry: Entry) -> None:
        member, where = entry.member, entry.where
        what = f"{record.name}.{member.name}"
        held = record.find(member.name)
        size = len(record.members)
        if held:
            self.same(held, entry)
            index, theirs = held
            since = f", since 1.{theirs.since}" if theirs.since is not None else ""
            self.aside(what, f"hold it at index {index}{since}")
        elif entry.index is not None and entry.index < size:
            other = record.members[entry.index]
            if member.status != "placeholder":
                raise OverlayError(
                    f"{where} has index {entry.index}, but the imported headers hold {other.name} there: "
                    "mend the overlay, or build without it"
                )
            self.aside(what, f"call it {other.name}")
        elif entry.index is not None and entry.index > size:
            raise OverlayError(
                f"{where} has index {entry.index}, but the imported headers end at {size}: "
                "import newer headers, or build without this overlay"
            )
        else:
            record.members.append(member)

    @staticmethod
    def same(held: tuple[int, Member], entry: Entry) -> None:
        index, theirs = held
        if entry.index is not None and index != entry.index:
            raise OverlayError(f"{entry.where} has index {entry.index} here and {index} in the imported headers")
        if not theirs.same_abi(entry.member):
            raise OverlayError(f"{entry.where} is {entry.member.type} here and {theirs.type} in the imported headers")


def _same_values(ours: Enum, theirs: Enum) -> bool:
    """Upstream may have more of them by now."""
    return ours.values.items() <= theirs.values.items()


def _text(item: Any) -> str:
    return str(item.values if isinstance(item, Enum) else item.type if isinstance(item, Callback) else item)
