"""Is what is committed what the generator gives now?"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from pathlib import Path

__all__ = ["changes"]


def changes(files: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Which files differ from those of a folder: name to unified diff, from what is there to what should be."""
    found = {}
    for name, text in files.items():
        path = folder / name
        before = path.read_bytes().decode("utf-8", "replace") if path.is_file() else ""
        if before != text:
            lines = difflib.unified_diff(
                before.splitlines(keepends=True),
                text.splitlines(keepends=True),
                f"{name} (committed)" if path.is_file() else f"{name} (missing)",
                f"{name} (generated now)",
            )
            found[name] = "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
    return found
