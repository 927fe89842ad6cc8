r"""The comments of header files, found again by line: a ``\since`` stands before what it is about, or behind it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Mapping

from .errors import Coord

__all__ = ["Comments", "since_in"]

_SINCE = re.compile(r"[\\@]since\s+(?:ORT\s+|ONNX\s+Runtime\s+|version\s+|release\s+)*v?1\.(\d+)", re.IGNORECASE)

_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*(?:\n[ \t]*//[^\n]*)*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


class Comments:
    """The comments of header files, by file name."""

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


def since_in(comment: str) -> int | None:
    r"""The N of the last ``\since 1.N`` in a comment."""
    found = _SINCE.findall(comment)
    return int(found[-1]) if found else None
