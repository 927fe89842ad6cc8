"""The files below one folder: what is there, written anew, read whole, removed."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..stores.temporary import OPEN_FLAGS
from .pack import Pack, file_name_problem

__all__ = [
    "FileState",
    "Listing",
    "empty_tree",
    "is_full",
    "list_tree",
    "read_file",
    "reads_are_seen",
    "remove_tree",
    "write_pack",
]


#: How far back restored files are dated: whatever is written later has another time, however coarse the clock.
_BACK_NS = 10_000_000_000


@dataclass(frozen=True)
class FileState:
    """What tells one content of a file from another without reading it."""

    size: int
    modified_ns: int
    inode: int


@dataclass(frozen=True)
class Listing:
    """What is in a folder.

    Attributes:
        files: the state of each file, by its relative name with ``/`` between the parts.
        read: names of those that were read since `write_pack` wrote them. Only where `reads_are_seen`.
        refused: what cannot be part of a pack, with the reason: links, pipes, unsafe names.
    """

    files: dict[str, FileState]
    read: frozenset[str]
    refused: dict[str, str]


def list_tree(root: Path) -> Listing:
    """What is below a folder, links not followed.

    Raises:
        OSError: it cannot be listed, or a link has taken its place.
    """
    if root.is_symlink():
        raise _replaced(root)
    files, read, refused = {}, set(), {}
    for name, entry in _walk(root):
        status = entry.stat(follow_symlinks=False)
        problem = file_name_problem(name) if stat.S_ISREG(status.st_mode) else "it is no regular file"
        if problem:
            refused[name] = problem
            continue
        files[name] = _state(status)
        if status.st_atime_ns:
            read.add(name)
    return Listing(files, frozenset(read), refused)


def reads_are_seen(root: Path) -> bool:
    """Does this file system record when a file is read?"""
    # Yes only where it is certain, which is Linux: a file that is dated as older than its last change is recorded at
    # its next read there, also one through a memory map, unless the mount says noatime.
    no_access_times = getattr(os, "ST_NOATIME", None)
    return no_access_times is not None and not os.statvfs(root).f_flag & no_access_times


def is_full(root: Path) -> bool:
    """Is there no room left in this file system?"""
    if not hasattr(os, "statvfs"):
        return shutil.disk_usage(root).free == 0
    status = os.statvfs(root)
    return not (status.f_bfree if os.geteuid() == 0 else status.f_bavail)


def write_pack(root: Path, pack: Pack) -> dict[str, FileState]:
    """Write a pack's files into an empty folder; gives their states.

    Raises:
        OSError: there is no room, or a name cannot be written here.
    """
    dated = time.time_ns() - _BACK_NS
    states = {}
    for member, content in pack.contents():
        path = root / member.name
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | OPEN_FLAGS, 0o600)
        try:
            rest = content
            while rest:
                rest = rest[os.write(file, rest) :]
        finally:
            os.close(file)
        os.utime(path, ns=(0, dated))
        states[member.name] = _state(path.lstat())
    return states


def read_file(root: Path, name: str, into: memoryview) -> None:
    """Fill the memory with a file's content, without leaving a trace of having read it.

    Raises:
        OSError: it cannot be read, or is shorter than that.
    """
    file = _open(root / name)
    try:
        with os.fdopen(file, "rb", buffering=0, closefd=False) as stream:
            while into:
                count = stream.readinto(into)
                if not count:
                    raise OSError(f"{name} became shorter while it was read")
                into = into[count:]
    finally:
        os.close(file)


def empty_tree(root: Path) -> list[OSError]:
    """Remove all that is in a folder of one's own; gives what could not be removed."""
    if root.is_symlink():
        return [_replaced(root)]
    problems: list[OSError] = []
    folders = [root]
    for folder in folders:  # grows on the way
        with contextlib.suppress(OSError):
            folder.chmod(0o700)
        try:
            with os.scandir(folder) as entries:
                found = list(entries)
        except OSError as error:
            problems.append(error)
            continue
        for entry in found:
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            else:
                _remove(Path(entry.path), problems)
    for folder in reversed(folders[1:]):
        try:
            folder.rmdir()
        except OSError as error:
            problems.append(error)
    return [problem for problem in problems if not isinstance(problem, FileNotFoundError)]


def remove_tree(root: Path) -> list[OSError]:
    """Remove a folder of one's own with all that is in it; gives what could not be removed. Where a link has taken its
    place, the link alone goes."""
    problems: list[OSError] = []
    if root.is_symlink():
        _remove(root, problems)
        return problems
    problems = empty_tree(root)
    try:
        root.rmdir()
    except FileNotFoundError:
        pass
    except OSError as error:
        problems.append(error)
    return problems


def _walk(root: Path) -> Iterator[tuple[str, os.DirEntry[str]]]:
    """Each thing below a folder that is no folder, with its relative name."""
    folders = [""]
    for folder in folders:  # grows on the way
        path = root / folder
        try:
            found = os.scandir(path)
        except PermissionError:  # the provider left it so; it is ours
            path.chmod(0o700)
            found = os.scandir(path)
        with found as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if entry.is_dir(follow_symlinks=False):
                    folders.append(name)
                else:
                    yield name, entry


def _replaced(root: Path) -> OSError:
    return OSError(errno.ELOOP, "a link has taken the folder's place", str(root))


def _state(status: os.stat_result) -> FileState:
    return FileState(status.st_size, status.st_mtime_ns, status.st_ino)


def _open(path: Path) -> int:
    flags = os.O_RDONLY | OPEN_FLAGS | getattr(os, "O_NOATIME", 0)
    try:
        return os.open(path, flags)
    except PermissionError:
        path.chmod(0o600)  # the provider left it unreadable; it is ours
        return os.open(path, flags)


def _remove(path: Path, problems: list[OSError]) -> None:
    try:
        path.unlink()
    except PermissionError:  # Windows: read-only files
        try:
            if not path.is_symlink():  # what it leads to is not ours
                path.chmod(0o600)
            path.unlink()
        except OSError as error:
            problems.append(error)
    except OSError as error:
        problems.append(error)
