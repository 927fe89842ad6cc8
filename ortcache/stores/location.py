"""What names a store, taken apart: scheme, place, and the options in the query."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from ..errors import InputError
from .masking import masked

__all__ = ["SCHEMES", "Location", "locate"]

#: Every scheme, with the way to write its URL.
SCHEMES = {
    "memory": "memory:",
    "file": "file:///absolute/path (or the path alone)",
    "sqlite": "sqlite:///relative.db or sqlite:////absolute.db",
    "s3": "s3://bucket/prefix",
    "s3a": "s3a://bucket/prefix",
    "gs": "gs://bucket/prefix",
    "az": "az://container/prefix",
    "azure": "azure://container/prefix",
    "adl": "adl://container/prefix",
    "abfs": "abfs://container@account.dfs.core.windows.net/prefix",
    "abfss": "abfss://container@account.dfs.core.windows.net/prefix",
    "redis": "redis://[user:password@]host[:port][/database]",
    "rediss": "rediss://[user:password@]host[:port][/database]",
    "unix": "unix:///path/of/redis.sock",
}

#: Two letters at least: one is a Windows drive.
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(.*)", re.DOTALL)


@dataclass(frozen=True)
class Location:
    """Where a store is.

    Attributes:
        scheme: "file" for a path too.
        place: the absolute path, percent-decoded, where it lies on the disk; the URL without its query elsewhere.
        options: the query, name to text, percent-decoded.
        shown: the whole for people, without secrets.
    """

    scheme: str
    place: str = field(repr=False)
    options: dict[str, str] = field(repr=False)
    shown: str

    @property
    def on_disk(self) -> bool:
        """Is it a file or directory of this machine?"""
        return self.scheme in ("file", "sqlite")

    @property
    def missing(self) -> bool:
        """Is it one, and not there yet?"""
        return self.on_disk and not Path(self.place).exists()


def locate(where: str | os.PathLike[str]) -> Location:
    """Take it apart.

    Raises:
        InputError: an unknown scheme, or no URL of its scheme.
        TypeError: neither text nor a path.
    """
    if not isinstance(where, str):
        path = os.fspath(where)
        if not isinstance(path, str):
            raise TypeError(f"a store is named by a URL or a path, not by {type(path).__name__}")
        return _path(path)
    match = _SCHEME.fullmatch(where)
    if match is None or not (match[1].lower() in SCHEMES or match[2].startswith("//")):
        if "?" in where:
            raise InputError(f"{masked(where)!r}: options need a URL, file:///path?name=value; for a path, use Path")
        return _path(where)
    scheme = match[1].lower()
    if scheme not in SCHEMES:
        known = ", ".join(SCHEMES)
        raise InputError(f"{masked(where)!r}: no store has the scheme {scheme!r}; known are {known}, and a path")
    bare, _, query = where.partition("?")
    if "#" in where:
        raise InputError(f"{masked(where)!r}: a # in a URL is written %23")
    rest = bare[len(scheme) + 1 :]
    place = f"{scheme}:{rest}"
    if scheme in ("memory", "file", "sqlite"):
        place = _local(scheme, rest, masked(where))
    elif not rest.startswith("//"):
        raise InputError(f"{masked(where)!r} is not {SCHEMES[scheme]}")
    return Location(scheme, place, _options(query, masked(where)), masked(where))


def _path(path: str) -> Location:
    if not path or "\0" in path:
        raise InputError(f"{path!r} is no path")
    return Location("file", _absolute(path), {}, path)


def _absolute(path: str) -> str:
    """Where it is from here and now: the store may be opened later, and elsewhere."""
    home = os.path.expanduser(path) if re.match(r"~[/\\]|~$", path) else path  # noqa: PTH111 - Path raises without a home
    return str(Path(home).absolute())


def _local(scheme: str, rest: str, shown: str) -> str:
    if scheme == "memory":
        if rest not in ("", "//", "///"):
            raise InputError(f"{shown!r}: a store in memory has no name: write {SCHEMES[scheme]}")
        return ""
    host, slash, path = rest.removeprefix("//").partition("/")
    if not rest.startswith("//") or not slash or not path or host not in ("", "localhost"):
        raise InputError(f"{shown!r} is not {SCHEMES[scheme]}")
    path = _decoded(path, shown)
    if path == ":memory:":
        raise InputError(f"{shown!r} names no file: a store in memory is {SCHEMES['memory']}")
    if scheme == "sqlite":
        return _absolute(path)
    return path if sys.platform == "win32" and re.match(r"[A-Za-z]:", path) else f"/{path}"


def _options(query: str, shown: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for item in filter(None, query.split("&")):
        name, equals, value = item.partition("=")
        if not equals or not name:
            raise InputError(f"{shown!r}: an option is name=value, and & is between two")
        name = _decoded(name, shown)
        if name in options:
            raise InputError(f"{shown!r} gives {name!r} twice")
        options[name] = _decoded(value, shown)  # a + is a +: keys have some
    return options


def _decoded(text: str, shown: str) -> str:
    try:
        found = unquote(text, errors="strict")
    except UnicodeDecodeError:
        found = "\0"
    if "\0" in found or re.search(r"%(?![0-9A-Fa-f]{2})", text):
        raise InputError(f"{shown!r}: what is percent-encoded there is no text")
    return found
