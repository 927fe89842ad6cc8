"""A directory for an execution provider that knows nothing else, restored from a store and written back to it."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self, TypeVar

from ..errors import ClosedError
from .contents import Contents
from .entry import StoredDirectory
from .pack import Pack
from .places import choose_root, roots
from .private import PrivateDirectory, sweep
from .providers import check_provider
from .report import Report
from .stats import BridgeStats

__all__ = ["BridgedDirectory"]

_Session = TypeVar("_Session")


class BridgedDirectory:
    """What `directory` gives.

    Args:
        entry: what it is restored from and saved to; None for an empty directory that nothing is saved of.
        mode: ``"rw"``, ``"r"`` or ``"w"``.
        root: the folder to make it in; None to choose one.
        room: bytes that it must have room for.
        strict: raise what fails.
        versions: the version texts of the scope, by part.
        release: called at the end.

    Attributes:
        path: the folder for the provider, or None where none could be made: the provider then runs without a cache.
        mode: as it was given.
        ep: the execution provider that `options_for` was last asked about.
        versions: as it was given.
    """

    def __init__(
        self,
        entry: StoredDirectory | None,
        mode: str,
        *,
        root: Path | None,
        room: int,
        strict: bool,
        versions: Mapping[str, str],
        release: Callable[[], object],
    ) -> None:
        self.ep: str | None = None
        self.versions = versions
        self.mode = mode
        self._entry = entry
        self._strict = strict
        self._release = release
        self._report = Report(entry.label if entry is not None else "no entry")
        self._lock = threading.RLock()
        self._process = os.getpid()
        self._restored: str | None = None  # the entry's digest, while it is not known to be of no use
        self._unfinished = False
        self._ended = False
        searched = [root] if root is not None else roots()
        died = sweep(searched, entry.identity if entry is not None else "", keep="w" not in mode)
        start = time.perf_counter()
        pack = self._load(entry, died) if entry is not None and "r" in self.mode else None
        self._private = self._make(root, room + (2 * len(pack.body) if pack is not None else 0))
        self.path = self._private.path if self._private is not None else None
        self._contents: Contents | None = None
        try:
            self._contents = Contents(self.path) if self.path is not None else None
            if pack is not None and self._contents is not None:
                self._restore(self._contents, pack, start)
        except BaseException:  # what is there may be half of what was to be restored
            self._end(save=False)
            raise

    @property
    def stats(self) -> BridgeStats:
        """The counts up to now."""
        entry = self._entry
        return self._report.stats(
            failed=entry.failed if entry is not None else 0, quarantined=entry.quarantined if entry is not None else 0
        )

    def save(self) -> bool:
        """Store what the provider wrote up to now, as one value; was anything stored?

        Call it when no session is being made: files that belong together must all be there. Does nothing where nothing
        changed, in a read-only directory, after `close`, in a forked child, and where the last session that `session`
        was to make could not be made: files of it may be half of what they were to be.
        """
        if self._forked:
            return False
        with self._lock:
            contents, entry = self._active(), self._entry
            if contents is None or entry is None or "w" not in self.mode:
                return False
            if self._unfinished:
                self._report.unfinished()
                return False
            start = time.perf_counter()
            try:
                new = contents.pack()
            except OSError as error:
                self._failed("reading the provider's files", error)
                return False
            if new is None:
                return False
            self._report.refused(new.changes.listing.refused)
            unstable = contents.unstable(new.changes)
            if unstable:
                self._report.unstable(*unstable)
            if new.rewritten & contents.restored:
                self._report.rewritten(new.rewritten & contents.restored)
            if new.value is not None:
                if not entry.save(new.value):
                    return False
                self._report.saved(new, len(new.value), time.perf_counter() - start)
            contents.stored(new)
            return new.value is not None

    def session(self, make: Callable[[Self], _Session]) -> _Session:
        """Make a session with this directory, so that a restored entry that cannot be loaded does no harm.

        Where ``make`` fails, or the provider is not among the session's, and something was restored, the directory is
        emptied and ``make`` called once more. If that works, the entry was at fault and is moved aside. An entry whose
        loading ends the process, which no exception tells of, is moved aside by the next process that would load it.

        Args:
            make: gets this directory and gives the session.

        Raises:
            ClosedError: this directory was closed.
            EpCacheError: the provider is not among the session's (see `check`).
            Exception: what ``make`` raised the last time, with the first failure as its cause.
        """
        self.check_open()
        try:
            session = self._session(make)
        except BaseException:
            self._unfinished = True
            raise
        self._unfinished = False
        return session

    def _session(self, make: Callable[[Self], _Session]) -> _Session:
        private, restored, entry = self._private, self._restored, self._entry
        if private is None or not private.mine or restored is None or entry is None:
            return self._made(make)
        try:
            with private.marked(f"{entry.identity} {restored}", lambda error: self._failed("leaving a mark", error)):
                return self._made(make)
        except Exception as error:
            first = error
        with self._lock:
            if self._restored is not None:  # else another thread has come to know it, and builds there
                self._restored = None
                self._report.not_loaded(first)
                if self._contents is not None:
                    self._contents.clear()
        try:
            session = self._made(make)
        except Exception as second:
            raise second from first
        entry.quarantine(restored)
        return session

    def check(self, session: Any) -> None:
        """Is the provider that `options_for` was asked about among the session's?

        Raises:
            EpCacheError: it is not: it refused its options, or could not start, and ONNX Runtime goes on without.
        """
        if self.ep is not None:
            check_provider(session, self.ep)

    def close(self) -> None:
        """Store what changed and remove the directory, when the provider is done with it. May be called again."""
        self._end(save=True)

    def check_open(self) -> None:
        """Raises ClosedError where it was closed: a provider would find no directory there, and keep nothing."""
        if self._ended:
            raise ClosedError("the directory was closed: make the provider's options and sessions before")

    def __enter__(self) -> Self:
        self.check_open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        # After an exception the files may be half of what was to be written.
        self._end(save=kind is None or (isinstance(error, SystemExit) and not error.code))

    def __repr__(self) -> str:
        return f"<BridgedDirectory {self.path}, mode {self.mode}>"

    def _load(self, entry: StoredDirectory, died: list[str]) -> Pack | None:
        pack = entry.load()
        if pack is not None and f"{entry.identity} {pack.digest}" in died:
            self._report.crashed()
            entry.quarantine(pack.digest)
            pack = None
            self._report.missed("a process ended while it loaded the entry")
        elif pack is None:
            self._report.missed(entry.why_missed())
        return pack

    def _make(self, root: Path | None, room: int) -> PrivateDirectory | None:
        try:
            chosen = root if root is not None else choose_root(room)
            if chosen is None:
                raise OSError("neither a folder in memory nor a temporary one can be written to")
            return PrivateDirectory(chosen, self._at_exit)
        except OSError as error:
            if self._strict:
                raise
            self._report.no_place(error)
            return None

    def _restore(self, contents: Contents, pack: Pack, start: float) -> None:
        try:
            contents.restore(pack)
        except OSError as error:
            if self._strict:
                raise
            self._report.not_written(error)
            return
        self._restored = pack.digest
        self._report.restored(len(pack.members), len(pack.body), time.perf_counter() - start)

    def _made(self, make: Callable[[Self], _Session]) -> _Session:
        session = make(self)
        self.check(session)
        return session

    def _end(self, *, save: bool) -> None:
        if self._forked:
            if not self._ended:
                self._ended = True
                self._release()
            return
        with self._lock:
            if self._ended:
                return
            try:
                contents = self._active()
                if save and contents is not None and self._entry is not None:
                    self.save()
                    self._look_back(contents)
            finally:
                self._ended = True
                if self._private is not None:
                    self._private.remove()
                self._release()

    def _look_back(self, contents: Contents) -> None:
        """What the provider left, and was not saved."""
        try:
            changes = contents.changes()
        except OSError as error:
            self._failed("listing the provider's files", error)
            return
        if "w" not in self.mode and (changes.new or changes.changed):
            self._report.dropped(changes)
        if not contents.restored and not changes.listing.files:
            self._report.nothing_written(self.ep)

    @property
    def _forked(self) -> bool:
        """Is this a child of its process? There, another thread of the parent's may hold the lock for ever."""
        return os.getpid() != self._process

    def _active(self) -> Contents | None:
        there = self._private is not None and self._private.mine and not self._ended
        return self._contents if there else None

    def _at_exit(self) -> None:
        # A program that ends by an exception may have left half of what was to be written.
        self._end(save=getattr(sys, "last_value", None) is None)

    def _failed(self, what: str, error: OSError) -> None:
        if self._strict:
            raise error
        self._report.failed(what, error)
