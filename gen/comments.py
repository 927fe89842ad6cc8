r"""The comments of header files, found again by line: a ``\since`` stands before what it is about, or behind it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping
from operator import attrgetter
from typing import NamedTuple

from .errors import Coord

__all__ = ["Comments", "since_in"]

_SINCE = re.compile(r"[\\@]since\s+(?:ORT\s+|ONNX\s+Runtime\s+|version\s+|release\s+)*v?1\.(\d+)", re.IGNORECASE)

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


class _Comment(NamedTuple):
    first: int  # its lines
    last: int
    text: str
    alone: bool  # nothing but space stands before it on its line


_first = attrgetter("first")
_last = attrgetter("last")


class Comments:
    """The comments of header files, by file name."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self.by_file = {name: _comments(text) for name, text in texts.items()}  # in order

    def before(self, coord: Coord, after_line: int) -> str:
        """The comments between two lines of a file, and what trails on the second."""
        found = self.by_file.get(coord.file, [])
        start = bisect_right(found, after_line, key=_first)
        end = bisect_right(found, coord.line, start, key=_first)
        return "\n".join(c.text for c in found[start:end] if c.last <= coord.line or c.first == coord.line)

    def last_before(self, coord: Coord) -> str:
        """The comment that ends on the line before, or on this one."""
        found = self.by_file.get(coord.file, [])
        end = bisect_right(found, coord.line, key=_last)
        return found[end - 1].text if end and found[end - 1].last >= coord.line - 1 else ""


def _comments(text: str) -> list[_Comment]:
    starts = [0, *(m.end() for m in re.finditer("\n", text))]
    found: list[_Comment] = []
    for match in _COMMENT.finditer(text):
        if match[0][0] != "/":
            continue  # a string or a character
        first, last = bisect_right(starts, match.start()), bisect_right(starts, match.end() - 1)
        alone = not text[starts[first - 1] : match.start()].strip()
        comment = _Comment(first, last, match[0], alone)
        if found and _continues(found[-1], comment):
            before = found.pop()
            comment = _Comment(before.first, last, f"{before.text}\n{comment.text}", before.alone)
        found.append(comment)
    return found


def _continues(before: _Comment, comment: _Comment) -> bool:
    """Is it the next line of one comment? What trails behind code goes on only as Doxygen writes that."""
    lines = before.text.startswith("//") and comment.text.startswith("//")
    if not lines or not comment.alone or comment.first != before.last + 1:
        return False
    trails = comment.text.startswith(("///<", "//!<"))
    return trails != before.alone


def since_in(comment: str) -> int | None:
    r"""The N of the last ``\since 1.N`` in a comment."""
    found = _SINCE.findall(comment)
    return int(found[-1]) if found else None
