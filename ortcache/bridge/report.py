"""What a bridged directory says and counts: its log lines, its warnings, its numbers."""

from __future__ import annotations

import logging

from ..warn import warn_user
from .contents import Changes, NewPack
from .stats import BridgeStats

__all__ = ["Report"]

_log = logging.getLogger("ortcache.bridge")


class Report:
    """One directory's.

    Args:
        label: what it is called in log lines.
    """

    def __init__(self, label: str) -> None:
        self._label = label
        self._counts: dict[str, int] = {}
        self._told: set[str] = set()

    def stats(self, *, failed: int, quarantined: int) -> BridgeStats:
        """The counts up to now, with those of the entry."""
        return BridgeStats(**{**self._counts, "failed": self._counts.get("failed", 0) + failed,
                              "quarantined": quarantined})  # fmt: skip

    def missed(self, why: str) -> None:
        self._count(misses=1)
        _log.info("%s: miss (%s); the provider builds now, which may take long", self._label, why)

    def restored(self, files: int, size: int, seconds: float) -> None:
        self._count(hits=1, restored_files=files, restored_bytes=size)
        _log.info("%s: restored %d files, %d bytes, in %.3f s", self._label, files, size, seconds)

    def not_written(self, error: OSError) -> None:
        self.failed("writing what was restored", error)
        self.missed("the entry could not be written to the directory")

    def crashed(self) -> None:
        _log.warning("%s: a process ended while it loaded this entry, which is not used again", self._label)

    def not_loaded(self, error: Exception) -> None:
        self._count(hits=-1)
        _log.warning("%s: no session could be made from what was restored: %s: %s",
                     self._label, type(error).__name__, error)  # fmt: skip
        self.missed("what was restored could not be loaded")

    def unfinished(self) -> None:
        _log.warning("%s: nothing is stored, as the last session could not be made", self._label)

    def rewritten(self, names: frozenset[str]) -> None:
        self._count(rewritten_files=len(names))
        _log.warning("%s: the provider made %r anew, with the content that was restored: it did not use it",
                     self._label, min(names))  # fmt: skip

    def saved(self, new: NewPack, size: int, seconds: float) -> None:
        files = new.changes.listing.files
        self._counts |= {
            "saved_files": len(new.members),
            "saved_bytes": size,
            "dropped_files": len(new.stale) + len(new.changes.listing.refused),
            "dropped_bytes": sum(files[name].size for name in new.stale),
        }
        for name in sorted(new.stale):
            _log.info("%s: dropped %r, which nobody used for long", self._label, name)
        _log.info("%s: saved %d files, %d bytes, in %.3f s", self._label, len(new.members), size, seconds)

    def dropped(self, changes: Changes) -> None:
        names = changes.new | changes.changed
        size = sum(changes.listing.files[name].size for name in names)
        self._count(dropped_files=len(names), dropped_bytes=size)
        _log.info("%s: dropped %d files, %d bytes: the directory is read-only", self._label, len(names), size)

    def failed(self, what: str, error: Exception) -> None:
        self._count(failed=1)
        _log.warning("%s: %s failed, and the run goes on without: %s", self._label, what, error)

    def no_place(self, error: OSError) -> None:
        self.failed("making a private directory", error)
        self._warn("place", f"the provider runs without a cache, as no directory could be made for it: {error}")

    def refused(self, problems: dict[str, str]) -> None:
        for name, problem in sorted(problems.items()):
            self._warn(f"refused {name}", f"the provider's file {name!r} is not stored: {problem}")

    def unstable(self, new: str, old: str) -> None:
        self._warn(
            "names",
            f"the provider's file names change from run to run: it did not use {old!r}, which was restored, and wrote "
            f"{new!r}. It may build at every start: see whether it has an option for the name",
        )

    def nothing_written(self, ep: str | None) -> None:
        self._warn(
            "nothing",
            f"{ep or 'the execution provider'} left no file in its cache directory, though nothing was restored: it "
            "does not cache this model, did not run, or did not get the option",
        )

    def _warn(self, kind: str, message: str) -> None:
        if kind not in self._told:
            self._told.add(kind)
            warn_user(message)

    def _count(self, **more: int) -> None:
        for name, count in more.items():
            self._counts[name] = self._counts.get(name, 0) + count
