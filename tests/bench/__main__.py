"""Run every benchmark and print one table: ``python -m tests.bench [PART …]``."""

from __future__ import annotations

import sys

from . import bridge, callbacks, generate, imports, memory, runs, stores
from .measure import Row

__all__: list[str] = []

_PARTS = {
    "imports": imports,
    "generate": generate,
    "runs": runs,
    "memory": memory,
    "callbacks": callbacks,
    "bridge": bridge,
    "stores": stores,
}


def main() -> None:
    found: list[Row] = []
    for name in sys.argv[1:] or _PARTS:
        print(f"{name} …", file=sys.stderr, flush=True)
        found += _PARTS[name].rows()
    cells = [("what", "ortcache", "other", "ratio", "goal", "")]
    for row in found:
        goal = "" if row.goal is None else f"<= {row.goal:.3g}"
        verdict = "" if row.goal is None else "met" if row.ratio <= row.goal else "MISSED"
        cells.append((row.what, row.ours, row.theirs, f"{row.ratio:.3f}", goal, verdict))
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


if __name__ == "__main__":
    main()
