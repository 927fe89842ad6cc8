"""Where things lie in a checkout."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ABI", "OVERLAYS", "RAW", "ROOT", "SOURCES", "TABLES", "UPSTREAM", "shown"]

ROOT = Path(__file__).resolve().parents[1]

#: The pinned header sets.
SOURCES = ROOT / "headers" / "sources.toml"

#: Upstream's header text, as `fetch` brought it. Git ignores it.
UPSTREAM = ROOT / "headers" / "upstream"

#: The committed snapshots.
ABI = ROOT / "headers" / "abi"

#: Measured sizes of the append-only tables.
TABLES = ROOT / "headers" / "tables.toml"

#: Laid over the newest snapshot in this order: the proposal uses types of the additions.
OVERLAYS = (ROOT / "headers" / "ort_additions.h", ROOT / "headers" / "ep_cache_proposal.h")

#: The generated modules.
RAW = ROOT / "ortcache" / "raw"


def shown(path: Path) -> str:
    """The path as people write it: relative to the checkout where it lies inside."""
    resolved = path.resolve()
    return resolved.relative_to(ROOT).as_posix() if resolved.is_relative_to(ROOT) else str(path)
