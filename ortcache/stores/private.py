"""Directories that only their owner may write: whoever can write one decides what an execution provider loads."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ..errors import InputError

__all__ = ["check_private", "is_trusted"]


def check_private(folder: Path, what: str) -> None:
    """Refuse a directory that others could put values into.

    Args:
        folder: the directory; a link to one is not one.
        what: what to call it in the message.

    Raises:
        InputError: it is a link, no directory, another user's (see `is_trusted`), or writable by everybody.
    """
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
