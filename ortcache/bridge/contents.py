"""What a provider made of the files that it was given."""

from __future__ import annotations

import errno
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from .pack import MAX_FILES, Member, Pack, make_pack
from .tree import FileState, Listing, empty_tree, is_full, list_tree, read_file, reads_are_seen, write_pack

__all__ = ["KEPT_IDLE", "Changes", "Contents", "NewPack"]

#: A file that was neither read nor written in this many packs in a row is not in the next: under names that change
#: from run to run, the old ones would pile up.
KEPT_IDLE = 3

#: How often a folder is read that changes meanwhile, and the seconds between.
_TRIES, _PAUSE = 5, 0.1


@dataclass(frozen=True)
class Changes:
    """What is different from what was restored, or saved last.

    Attributes:
        listing: what is there now.
        new: files that were not there.
        changed: files that were written to, or put there anew.
        gone: files that were removed.
    """

    listing: Listing
    new: frozenset[str]
    changed: frozenset[str]
    gone: frozenset[str]

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.gone)


@dataclass(frozen=True)
class NewPack:
    """What is to be stored.

    Attributes:
        value: the pack; None where the files are what is stored already.
        members: its files.
        rewritten: files that were put there anew with the content that they had.
        stale: files that are left out, as nobody used them for long.
        changes: what it holds.
    """

    value: bytearray | None
    members: tuple[Member, ...]
    rewritten: frozenset[str]
    stale: frozenset[str]
    changes: Changes


class Contents:
    """The files of one folder, from being restored to being packed again.

    Args:
        root: the folder, which is empty.

    Attributes:
        root: likewise.
        restored: names of the files that were restored.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.restored: frozenset[str] = frozenset()
        self._states: dict[str, FileState] = {}
        self._members: dict[str, Member] = {}  # of the pack that was restored or stored last
        self._idle: dict[str, int] = {}
        self._used: set[str] = set()
        self._reads_seen = reads_are_seen(root)

    def restore(self, pack: Pack) -> None:
        """Write a pack's files.

        Raises:
            OSError: they cannot be written; then none is there.
        """
        try:
            self._states = write_pack(self.root, pack)
        except OSError:
            empty_tree(self.root)
            raise
        self._members = {member.name: member for member in pack.members}
        self._idle = {member.name: member.idle for member in pack.members}
        self.restored = frozenset(self._members)

    def clear(self) -> list[OSError]:
        """Remove all files, and forget that any was restored; gives what could not be removed."""
        self.restored = frozenset()
        self._states, self._members, self._idle = {}, {}, {}
        self._used.clear()
        return empty_tree(self.root)

    def changes(self) -> Changes:
        """What happened to the files; none is read."""
        listing = list_tree(self.root)
        new = listing.files.keys() - self._states.keys()
        changed = {name for name, state in self._states.items() if listing.files.get(name, state) != state}
        gone = self._states.keys() - listing.files.keys()
        self._used |= new | changed | (listing.read if self._reads_seen else set())
        return Changes(listing, frozenset(new), frozenset(changed), frozenset(gone))

    def pack(self) -> NewPack | None:
        """The files as one value; None where nothing happened to them, or none is left.

        Raises:
            OSError: they cannot be read, or change all the time.
        """
        error: OSError | None = None
        for attempt in range(_TRIES):
            if attempt:
                time.sleep(_PAUSE)
            changes = self.changes()
            files = changes.listing.files
            if not changes or not files:
                return None
            if is_full(self.root):
                raise OSError(errno.ENOSPC, "its folder is full, so what the provider wrote may be cut short")
            if len(files) > MAX_FILES:
                raise OSError(f"the provider left {len(files)} files; at most {MAX_FILES} are stored")
            kept, stale = self._sort_out(changes)
            try:
                value, members = make_pack(kept, lambda name, into: read_file(self.root, name, into))
            except OSError as problem:
                error = problem
                continue
            if list_tree(self.root).files == files:
                return self._new_pack(value, members, stale, changes)
        raise error or OSError("the provider's files change while they are read")

    def stored(self, new: NewPack) -> None:
        """What `pack` gave is in the store now, or was already."""
        self._states = dict(new.changes.listing.files)
        self._members = {member.name: member for member in new.members}

    def unstable(self, changes: Changes) -> tuple[str, str] | None:
        """A new file that seems to stand for a restored one of another name, which nobody used; and that one."""
        for name in sorted(changes.new):
            like = _alike(name, self.restored)
            if like and not self._used.intersection(like):
                return name, like[0]
        return None

    def _sort_out(self, changes: Changes) -> tuple[list[Member], frozenset[str]]:
        """What goes into the next pack, and what nobody used for too long."""
        # Where reads are not seen, what is there counts as used, unless new names came up beside it.
        used = self._used if self._reads_seen or changes.new else changes.listing.files.keys()
        kept, stale = [], set()
        for name, state in sorted(changes.listing.files.items()):
            idle = 0 if name in used else self._idle.get(name, 0) + 1
            if idle > KEPT_IDLE:
                stale.add(name)
            else:
                kept.append(Member(name, state.size, idle=idle))
        return kept, frozenset(stale)

    def _new_pack(
        self, value: bytearray, members: tuple[Member, ...], stale: frozenset[str], changes: Changes
    ) -> NewPack:
        same = {member.name for member in members if _same(member, self._members.get(member.name))}
        unchanged = same == {member.name for member in members} == self._members.keys()
        return NewPack(None if unchanged else value, members, frozenset(same & changes.changed), stale, changes)


def _same(member: Member, before: Member | None) -> bool:
    return before is not None and (member.size, member.crc) == (before.size, before.crc)


def _alike(name: str, others: Collection[str]) -> list[str]:
    ending = PurePosixPath(name).suffix
    return sorted(other for other in others if PurePosixPath(other).suffix == ending)
