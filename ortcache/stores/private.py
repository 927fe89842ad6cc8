"""Directories that only their owner may write: whoever can write one decides what an execution provider loads."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from ..errors import InputError

__all__ = ["is_trusted", "make_private", "named_path"]


def named_path(given: str | os.PathLike[str]) -> Path:
    """The absolute path that is meant.

    Raises:
        InputError: it is empty, which would be the working directory, or has a NUL.
    """
    text = os.fspath(given)
    if not text or "\0" in text:
        raise InputError(f"{text!r} is no path")
    return Path(text).absolute()


def make_private(folder: Path, what: str) -> None:
    """Make a directory where there is none, and refuse one that others could put values into.

    Args:
        folder: the directory; a link to one is not one.
        what: what to call it in the message.

    Raises:
        InputError: it is a link, no directory, another user's (see `is_trusted`), or writable by everybody.
        OSError: it cannot be made.
    """
    with contextlib.suppress(FileExistsError):  # what is there instead is told below
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = folder.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise InputError(f"the {what} {folder} is a link: name the directory itself")
    if not stat.S_ISDIR(status.st_mode):
        raise InputError(f"the {what} {folder} is no directory")
    if hasattr(os, "geteuid"):
        if not is_trusted(folder, status):
            raise InputError(f"the {what} {folder} belongs to another user: use one of your own")
        if status.st_mode & stat.S_IWOTH:
            raise InputError(
                f"everybody may write into the {what} {folder}: use one that only you may write (chmod 700)"
            )


def is_trusted(path: Path, status: os.stat_result) -> bool:
    """Is the owner this user, or root, where this user may only read? A container's image holds such, and root decides
    what runs here anyway."""
    if status.st_uid == os.geteuid():
        return True
    others = stat.S_IWGRP | stat.S_IWOTH
    return status.st_uid == 0 and not status.st_mode & others and not os.access(path, os.W_OK)
