r"""What an overlay says of a member in its comment: ``\index``, ``\since``, ``\placeholder``, ``\proposed``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .comments import since_in
from .errors import OverlayError
from .model import CType, Member

__all__ = ["Entry", "is_marked", "read_entry"]

_INDEX = re.compile(r"\\index\s+(\d+)")
_MARK = re.compile(r"\\(index|placeholder|proposed)\b")


@dataclass
class Entry:
    """A member that an overlay adds to a struct of the headers."""

    member: Member
    index: int | None  # None: after whatever stands last
    where: str


def is_marked(comment: str) -> bool:
    """Does the comment say where the member belongs?"""
    return _MARK.search(comment) is not None


def read_entry(record: str, member: Member, comment: str) -> Entry:
    """A member with what its comment says of it, also set on the member.

    Raises:
        OverlayError: the comment says too little, or what does not go together.
    """
    where = f"{member.coord}: {record}.{member.name}"
    index, since = _INDEX.search(comment), since_in(comment)
    if r"\proposed" in comment:
        if index or since is not None or r"\placeholder" in comment:
            raise OverlayError(rf"{where} is \proposed: it can have no \index, no \since and no \placeholder")
        member.status = "proposed"
        return Entry(member, None, where)
    if not index or since is None:
        raise OverlayError(rf"{where} needs \index and \since in its comment, or \proposed")
    member.since = since
    if r"\placeholder" in comment:
        # The name is how the bindings know that this slot is not to be called.
        if member.type != CType("void", pointers=(False,)) or member.name != f"placeholder_{index[1]}":
            raise OverlayError(f"{where} is a placeholder: declare it `void* placeholder_{index[1]}`")
        member.status = "placeholder"
    elif member.name.startswith("placeholder"):
        raise OverlayError(rf"{where} is named like a placeholder, but is not marked \placeholder")
    return Entry(member, int(index[1]), where)
