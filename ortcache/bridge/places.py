"""Where a private directory may be made: in memory where there is room, else in the temporary folder, nowhere else."""

from __future__ import annotations

import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ..errors import InputError

__all__ = ["Place", "check_root", "choose_place", "choose_root", "roots"]

_MEMORY = {"tmpfs", "ramfs"}


def choose_root(room: int) -> Path | None:
    """The folder in which to make one that can take that many bytes; None where there is none at all."""
    for root in _in_memory():
        if _is_memory(root) and _problem(root) is None and _free(root) >= room:
            return root
    temporary = _temporary()
    return temporary if temporary is not None and _problem(temporary) is None else None


@dataclass(frozen=True)
class Place:
    """A folder for private directories: is it in memory, and how many bytes are free?"""

    path: Path
    in_memory: bool
    free: int


def choose_place(room: int) -> Place | None:
    """What `choose_root` gives, and what it is like."""
    root = choose_root(room)
    return None if root is None else Place(root, _is_memory(root), shutil.disk_usage(root).free)


def roots() -> list[Path]:
    """Every folder that `choose_root` may give."""
    temporary = _temporary()
    found = [*_in_memory(), *([temporary] if temporary is not None else [])]
    return list(dict.fromkeys(root for root in found if root.is_dir()))


def check_root(root: str | os.PathLike[str]) -> Path:
    """A folder that the user names.

    Raises:
        InputError: it is no folder that can be used.
    """
    path = Path(root).absolute()
    problem = _problem(path)
    if problem:
        raise InputError(f"{path} cannot hold a private directory: {problem}")
    return path


def _in_memory() -> Iterator[Path]:
    yield Path("/dev/shm")
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime):  # noqa: PTH117 - of text that may be empty
        yield Path(runtime)


def _temporary() -> Path | None:
    try:
        found = Path(tempfile.gettempdir()).absolute()
    except OSError:  # no folder can be written to
        return None
    # Its last resort is the working directory, which is nobody's temporary folder.
    named = {os.environ.get(name, "") for name in ("TMPDIR", "TEMP", "TMP")}
    return None if found == Path.cwd() and str(found) not in named else found


def _problem(root: Path) -> str | None:
    try:
        status = root.stat()
    except OSError as error:
        return error.strerror or str(error)
    if not stat.S_ISDIR(status.st_mode):
        return "it is no folder"
    if os.name == "posix" and status.st_mode & stat.S_IWOTH and not status.st_mode & stat.S_ISVTX:
        return "everybody may rename what is in it: it is writable by all and has no sticky bit"
    return None if os.access(root, os.W_OK | os.X_OK) else "it cannot be written to"


def _free(root: Path) -> int:
    status = os.statvfs(root)
    return status.f_bavail * status.f_frsize


def _is_memory(root: Path) -> bool:
    """Is the file system there in memory? Only Linux says so."""
    try:
        lines = Path("/proc/self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
        place = root.resolve(strict=True)
    except OSError:
        return False
    kinds = {}
    for line in lines:
        mount, _, kind = line.partition(" - ")
        point = re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), mount.split(" ")[4])
        kinds[point] = kind.split(" ")[0]  # what is mounted last at a place hides the others
    for folder in (place, *place.parents):
        if str(folder) in kinds:
            return kinds[str(folder)] in _MEMORY
    return False
