"""A value a file in one directory, for several processes at once."""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError
from ..keys import check_key, key_problem
from .protocol import Buffer

__all__ = ["DirectoryStore"]

#: No key starts with a dot, so no value has such a name.
_TEMPORARY = ".tmp-"

_FLAGS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


class DirectoryStore:
    """Files under a root of its own: 0700, and 0600 for each.

    A value is written under a temporary name, flushed to the disk, and then renamed: whoever reads gets a whole value
    or none. Links are not followed.

    Args:
        root: the directory; made where it is not there.

    Raises:
        InputError: the root is a link, no directory, another user's, or writable by everybody.
        OSError: it cannot be made.
    """

    def __init__(self, root: str | os.PathLike[str]) -> None:
        self.root = Path(root).absolute()
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        _check_root(self.root)

    def get(self, key: str) -> bytes | None:
        try:
            # Not blocking: whatever else has that name, such as a pipe, is looked at first.
            file = os.open(self._path(key), os.O_RDONLY | _FLAGS | getattr(os, "O_NONBLOCK", 0))
        except FileNotFoundError:
            return None
        except OSError:
            if self._path(key).is_symlink():  # it is not a value: nobody here makes links
                return None
            raise
        try:
            if not stat.S_ISREG(os.fstat(file).st_mode):
                return None
            with os.fdopen(file, "rb", closefd=False) as stream:
                return stream.read()
        finally:
            os.close(file)

    def put(self, key: str, value: Buffer) -> None:
        path = self._path(key)
        view = memoryview(value)
        data = view if view.c_contiguous else view.tobytes()
        temporary = self.root / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
        try:
            with os.fdopen(file, "wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(file)
            temporary.replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise

    def delete(self, key: str) -> bool:
        try:
            self._path(key).unlink()
        except FileNotFoundError:
            return False
        return True

    def keys(self) -> Iterator[str]:
        with os.scandir(self.root) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        return (key for key in map(_key, names) if key is not None)

    def __repr__(self) -> str:
        return f"DirectoryStore({str(self.root)!r})"

    def _path(self, key: str) -> Path:
        return self.root / _file_name(check_key(key))


def _file_name(key: str) -> str:
    """Lower case, and behind a ^ which letters are not: a file system that folds case must not mix two keys up."""
    upper = sum(1 << place for place, letter in enumerate(key) if letter.isupper())
    return f"{key.lower()}^{upper:x}" if upper else key


def _key(name: str) -> str | None:
    """The key of a file name; None where no key has that name."""
    lower, mark, places = name.partition("^")
    try:
        upper = int(places, 16) if mark else 0
    except ValueError:
        return None
    key = "".join(letter.upper() if upper >> place & 1 else letter for place, letter in enumerate(lower))
    return key if key_problem(key) is None and _file_name(key) == name else None


def _check_root(root: Path) -> None:
    """Whoever can write the directory decides what an execution provider loads."""
    status = root.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise InputError(f"the cache directory {root} is a link: name the directory itself")
    if not stat.S_ISDIR(status.st_mode):
        raise InputError(f"the cache directory {root} is no directory")
    if hasattr(os, "geteuid"):
        if status.st_uid != os.geteuid():
            raise InputError(f"the cache directory {root} belongs to another user: use one of your own")
        if status.st_mode & stat.S_IWOTH:
            raise InputError(f"everybody may write into the cache directory {root}: chmod 700 it")
