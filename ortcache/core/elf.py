"""Is a shared library's file whole? The system's loader maps a truncated one, and the process dies on touching it."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

__all__ = ["truncation"]

_LOAD = 1  # the type of a program header whose bytes are mapped


def truncation(path: str | os.PathLike[str]) -> str | None:
    """Why the ELF file cannot be loaded: it ends before what its program headers say; None for everything else.

    Other formats, and damage that the loader reports by itself, are left to the loader.
    """
    try:
        size = Path(path).stat().st_size
        with Path(path).open("rb") as file:
            head = file.read(64)
            if len(head) < 64 or head[:4] != b"\x7fELF" or head[4] not in (1, 2):
                return None
            end = _end(file, head)
    except (OSError, ValueError, OverflowError, struct.error):  # damage that the loader sees itself
        return None
    if end > size:
        return f"the file is truncated: it has {size} bytes and needs {end}"
    return None


def _end(file: BinaryIO, head: bytes) -> int:
    """Where the last mapped byte is."""
    order = "<" if head[5] == 1 else ">"
    if head[4] == 2:
        (start,) = struct.unpack_from(order + "Q", head, 32)
        entry, count = struct.unpack_from(order + "HH", head, 54)
        row, pick = order + "IIQQQQ", (0, 2, 5)
    else:
        (start,) = struct.unpack_from(order + "I", head, 28)
        entry, count = struct.unpack_from(order + "HH", head, 42)
        row, pick = order + "IIIII", (0, 1, 4)
    file.seek(start)
    table = file.read(entry * count)
    if len(table) < entry * count:
        return int(start + entry * count)
    rows = (struct.unpack_from(row, table, i * entry) for i in range(count))
    return max((int(r[pick[1]] + r[pick[2]]) for r in rows if r[pick[0]] == _LOAD), default=0)
