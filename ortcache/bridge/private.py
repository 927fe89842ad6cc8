"""A directory of this process alone, which nothing survives: not an exit, a fork, or a kill."""

from __future__ import annotations

import atexit
import contextlib
import os
import secrets
import stat
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..warn import warn_user
from .liveness import claim, is_free, let_go
from .tree import remove_tree

__all__ = ["PrivateDirectory", "sweep"]

_LOCK, _FILES, _LOADING = "lock", "cache", "loading"

#: Seconds after which a directory that nobody holds is not one that is just being made.
_MAKING = 60.0

#: Seconds for which it is remembered that a process died loading an entry.
_REMEMBERED = 7 * 24 * 3600.0

_live: set[PrivateDirectory] = set()
_hooks = threading.Lock()
_hooked = False


class PrivateDirectory:
    """``<root>/ortcache-<user>-<process>-<random>``, 0700: the files that the provider gets, a lock, and a mark.

    It is removed by `remove`, at the interpreter's exit, and where neither came about by the next `sweep`. A forked
    child has nothing to do with it.

    Args:
        root: where it is made.
        before_exit: called at the interpreter's exit, while the files are still there.

    Attributes:
        path: the folder for the provider's files.

    Raises:
        OSError: it cannot be made.
    """

    def __init__(self, root: Path, before_exit: Callable[[], object]) -> None:
        _hook()
        self._before_exit = before_exit
        self._file: int | None = None
        self._marks = 0
        self._lock = threading.Lock()
        while self._file is None:
            self._whole = root / f"{_prefix()}{os.getpid()}-{secrets.token_hex(6)}"
            self._whole.mkdir(mode=0o700)
            self.path = self._whole / _FILES
            try:
                self._file = claim(self._whole / _LOCK)
                if self._file is not None:  # else somebody took it for a dead process's
                    self.path.mkdir(mode=0o700)
            except BaseException:
                if self._file is not None:
                    let_go(self._file)
                remove_tree(self._whole)
                raise
        _live.add(self)
        atexit.register(self._at_exit)  # each on its own: one that fails takes none of the others along

    @property
    def mine(self) -> bool:
        """Is it there, and this process's?"""
        return self._file is not None

    @contextlib.contextmanager
    def marked(self, text: str, failed: Callable[[OSError], object]) -> Iterator[None]:
        """Around a load, of which several threads may be in the middle: should this process die now, `sweep` gives this
        text to the next one.

        Args:
            failed: told where the mark cannot be left.
        """
        mark = self._whole / _LOADING
        with self._lock:
            try:
                mark.write_text(text, "utf-8")
            except OSError as error:
                failed(error)
            self._marks += 1
        try:
            yield
        finally:
            with self._lock:
                self._marks -= 1
                if not self._marks and self.mine:
                    mark.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove all of it. Does nothing the second time, and in a forked child."""
        file, self._file = self._file, None
        _live.discard(self)
        atexit.unregister(self._at_exit)
        if file is None:
            return
        # The lock goes last: whatever is left by a kill now, the next sweep finds at once. And it is not held then, as
        # Windows removes no file that is open.
        problems = remove_tree(self.path)
        let_go(file)
        problems += remove_tree(self._whole)
        if problems:  # what it was for is done; the next sweep tries again
            warn_user(f"the private directory {self._whole} could not be removed whole: {problems[0]}")

    def forget(self) -> None:
        """In a forked child: it is the parent's."""
        if self._file is not None:
            let_go(self._file)
            self._file = None
            atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        try:
            self._before_exit()
        finally:
            self.remove()


def sweep(roots: list[Path], key: str, *, keep: bool = False, ended: int | None = None) -> list[str]:
    """Remove the directories of this user's dead processes.

    Args:
        roots: where to look.
        key: what this process is about to load.
        keep: leave its marks too: it can do nothing about them that lasts.
        ended: the number of a process that this one ended: what it was loading is not at fault, so its marks go.

    Returns:
        What of this key processes were loading when they died, as they marked it. Marks of other keys stay.
    """
    found = []
    for root in roots:
        for folder in _left(root):
            with contextlib.suppress(OSError):  # gone meanwhile, or being removed by somebody else
                innocent = ended is not None and folder.name.startswith(f"{_prefix()}{ended}-")
                found += _sweep(folder, key, keep, innocent)
    return found


def _sweep(folder: Path, key: str, keep: bool, innocent: bool) -> list[str]:
    try:
        file = is_free(folder / _LOCK)
    except FileNotFoundError:
        if time.time() - folder.stat().st_mtime > _MAKING:
            remove_tree(folder)
        return []
    if file is None:
        return []
    try:
        mark = folder / _LOADING
        text = mark.read_text("utf-8") if mark.exists() and not innocent else ""
        ours = text.startswith(f"{key} ")
        stays = text and (keep or not ours) and time.time() - mark.stat().st_mtime < _REMEMBERED
        remove_tree(folder / _FILES if stays else folder)
        return [text] if ours else []
    finally:
        let_go(file)


def _left(root: Path) -> Iterator[Path]:
    """This user's private directories, whoever's they are."""
    try:
        with os.scandir(root) as entries:
            names = [entry.name for entry in entries if entry.name.startswith(_prefix())]
    except OSError:
        return
    for name in names:
        with contextlib.suppress(OSError):
            status = (root / name).lstat()
            if stat.S_ISDIR(status.st_mode) and (os.name != "posix" or status.st_uid == os.geteuid()):
                yield root / name


def _prefix() -> str:
    return f"ortcache-{os.geteuid() if os.name == 'posix' else os.environ.get('USERNAME', '')}-"


def _hook() -> None:
    """Once, when the first is made."""
    global _hooked
    with _hooks:
        if not _hooked:
            _hooked = True
            if hasattr(os, "register_at_fork"):
                os.register_at_fork(after_in_child=_after_fork)


def _after_fork() -> None:
    for directory in list(_live):
        directory.forget()
    _live.clear()
