"""Header sets: which files one has, and the pinned ones with the sha256 of every file."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .errors import GenError

__all__ = [
    "MAIN_HEADER",
    "HeaderSet",
    "api_version",
    "check_release",
    "header_files",
    "is_header",
    "load_sources",
    "problems",
    "root_files",
    "toml_block",
]

MAIN_HEADER = "onnxruntime_c_api.h"

_PATTERNS = (MAIN_HEADER, "onnxruntime_ep_c_api.h", "onnxruntime_error_code.h", "*_config_keys.h", "*_metadata_keys.h")
_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*"([^"/\\\n]+)"', re.MULTILINE)
_API_VERSION = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+ORT_API_VERSION[ \t]+(\d+)\b", re.MULTILINE)
_SHA256 = re.compile(r"[0-9a-f]{64}")
_RELEASE = re.compile(r"\d+\.\d+(\.\d+)?")


@dataclass(frozen=True)
class HeaderSet:
    """A pinned set. ``npm`` is a package with its version, ``inside`` the folder of the headers in its archive."""

    release: str
    api_version: int
    sha256: Mapping[str, str]
    npm: str | None = None
    inside: str | None = None


def is_header(name: str) -> bool:
    """Is a file of this name part of a header set?"""
    return any(fnmatchcase(name, pattern) for pattern in _PATTERNS)


def header_files(names: Iterable[str], read: Callable[[str], bytes]) -> dict[str, bytes]:
    """The files of a folder that belong to its header set, with what they include beside them, sorted by name."""
    there = set(names)
    files: dict[str, bytes] = {}
    for name in there:
        if is_header(name):
            _add_with_includes(name, there, read, files)
    return dict(sorted(files.items()))


def root_files(files: Mapping[str, bytes]) -> list[str]:
    """The files to feed to a compiler: the main header, then those that it does not include by itself.

    Some headers have no include guard, because the main one is meant to include them.
    """
    included: dict[str, bytes] = {}
    _add_with_includes(MAIN_HEADER, files.keys(), files.__getitem__, included)
    return [MAIN_HEADER, *(name for name in files if name not in included)]


def _add_with_includes(name: str, there: Set[str], read: Callable[[str], bytes], files: dict[str, bytes]) -> None:
    if name in there and name not in files:
        files[name] = read(name)
        for included in _INCLUDE.findall(files[name]):
            _add_with_includes(included.decode("utf-8", "replace"), there, read, files)


def api_version(files: Mapping[str, bytes]) -> int:
    """ORT_API_VERSION, read out of the main header's text."""
    match = _API_VERSION.search(files.get(MAIN_HEADER, b""))
    if match is None:
        raise GenError(f"no {MAIN_HEADER} that defines ORT_API_VERSION: are these ONNX Runtime's headers?")
    return int(match[1])


def check_release(release: str, version: int) -> None:
    """Refuse a release name that is none, or that is not the one these headers were written for."""
    if not _RELEASE.fullmatch(release):
        raise GenError(f"{release!r} is not a release: write it as 1.{version}")
    if release.startswith("1.") and int(release.split(".")[1]) != version:
        raise GenError(f"these headers have ORT_API_VERSION {version}: they are of release 1.{version}, not {release}")


def problems(pinned: HeaderSet, files: Mapping[str, bytes]) -> list[str]:
    """How files differ from a pinned set, a line each; empty where every one is the pinned one."""
    lines = [f"{name} is missing" for name in pinned.sha256 if name not in files]
    for name, data in files.items():
        digest = hashlib.sha256(data).hexdigest()
        expected = pinned.sha256.get(name)
        if expected is None:
            lines.append(f"{name} is not one of the set's files")
        elif digest != expected:
            lines.append(f"{name} has sha256 {digest}, but {expected} is pinned")
    return lines


def load_sources(path: Path) -> dict[str, HeaderSet]:
    """Read ``headers/sources.toml``: release to set, oldest first.

    Raises:
        GenError: the file is missing, is not TOML, or an entry lacks something.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise GenError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise GenError(f"{path} is not TOML: {error}") from error
    sets = [_header_set(path, release, entry) for release, entry in data.items()]
    return {s.release: s for s in sorted(sets, key=lambda s: s.api_version)}


def _header_set(path: Path, release: str, entry: Any) -> HeaderSet:
    where = f'{path}: ["{release}"]'
    if not isinstance(entry, dict):
        raise GenError(f"{where} is not a table")
    unknown = entry.keys() - {"api_version", "npm", "inside", "sha256"}
    if unknown:
        raise GenError(f"{where} has an unknown key: {', '.join(sorted(unknown))}")
    version, hashes = entry.get("api_version"), entry.get("sha256")
    if not isinstance(version, int):
        raise GenError(f"{where} needs api_version, a number")
    try:
        check_release(release, version)
    except GenError as error:
        raise GenError(f"{where}: {error}") from error
    if not isinstance(hashes, dict) or MAIN_HEADER not in hashes:
        raise GenError(f"{where} needs the sha256 of every file, {MAIN_HEADER} among them")
    for name, digest in hashes.items():
        if Path(name).name != name or not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise GenError(f"{where}: {name!r} = {digest!r} is not a file name and its sha256")
    for key in ("npm", "inside"):
        if not isinstance(entry.get(key, ""), str):
            raise GenError(f"{where}: {key} is not a string")
    return HeaderSet(release, version, hashes, entry.get("npm"), entry.get("inside"))


def toml_block(header_set: HeaderSet) -> str:
    """The entry for ``headers/sources.toml``."""
    head = [f'["{header_set.release}"]', f"api_version = {header_set.api_version}"]
    head += [f"{key} = {json.dumps(getattr(header_set, key))}" for key in ("npm", "inside") if getattr(header_set, key)]
    hashes = [f"{json.dumps(name)} = {json.dumps(digest)}" for name, digest in header_set.sha256.items()]
    return "\n".join([*head, "", f'["{header_set.release}".sha256]', *hashes, ""])
