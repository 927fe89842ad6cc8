"""What this process holds of memory and file descriptors."""

from __future__ import annotations

import gc
import os
from pathlib import Path

from .oracles import need

__all__ = ["descriptors", "resident"]


def resident() -> int:
    """Bytes of memory, when the garbage is collected."""
    file = Path("/proc/self/statm")
    need("linux", file.exists())
    gc.collect()
    return int(file.read_text().split()[1]) * os.sysconf("SC_PAGESIZE")


def descriptors() -> list[str]:
    """What the open file descriptors lead to."""
    folder = Path("/proc/self/fd")
    need("linux", folder.is_dir())
    found = []
    for entry in folder.iterdir():
        try:
            found.append(str(entry.readlink()))
        except OSError:  # the one that lists them
            continue
    return sorted(found)
