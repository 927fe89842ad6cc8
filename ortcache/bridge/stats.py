"""What a bridged directory did."""

from __future__ import annotations

from dataclasses import dataclass, fields

__all__ = ["BridgeStats"]


@dataclass(frozen=True)
class BridgeStats:
    """Counts of one directory.

    Attributes:
        hits: entries restored: 1, or 0.
        misses: entries that were not there, or of no use: 1, or 0.
        quarantined: entries moved aside: damaged ones, and ones that the provider could not load.
        failed: operations that failed: the store, or the files.
        restored_files: files given to the provider, and ``restored_bytes`` of them.
        saved_files: files of the entry that was stored last, and ``saved_bytes`` of that value; 0 where none was.
        rewritten_files: restored files that the provider put there anew with the content that they had: it did not
            use them.
        dropped_files: files that the provider wrote and that were not stored, with ``dropped_bytes``: in a read-only
            directory all, else stale ones and those that cannot be stored.
    """

    hits: int = 0
    misses: int = 0
    quarantined: int = 0
    failed: int = 0
    restored_files: int = 0
    restored_bytes: int = 0
    saved_files: int = 0
    saved_bytes: int = 0
    rewritten_files: int = 0
    dropped_files: int = 0
    dropped_bytes: int = 0

    def as_dict(self) -> dict[str, int]:
        return {field.name: getattr(self, field.name) for field in fields(self)}
