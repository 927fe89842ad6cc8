"""What a bundle says that it holds, and whether the archive holds just that."""

from __future__ import annotations

import json
import stat
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from ..keys import key_problem
from .verified import QUARANTINE

__all__ = ["ENTRIES", "MANIFEST", "BundleEntry", "Manifest", "dump_manifest", "read_manifest"]

MANIFEST = "manifest.json"
#: What the names of the members with values start with; the key follows.
ENTRIES = "entries/"

_FORMAT = "ortcache-bundle"
_VERSION = 1
_LARGEST = 64 << 20  # bytes of a manifest: enough for some 300,000 entries
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


@dataclass(frozen=True)
class BundleEntry:
    """One value of a bundle: its key, its bytes, and their SHA-256."""

    key: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """What is in a bundle.

    Attributes:
        entries: every value.
        info: what whoever made it wrote down with it.
    """

    entries: tuple[BundleEntry, ...]
    info: Mapping[str, str]

    @property
    def size(self) -> int:
        """Bytes of all values."""
        return sum(entry.size for entry in self.entries)


def dump_manifest(manifest: Manifest) -> bytes:
    """The same bytes for the same content."""
    document = {
        "format": _FORMAT,
        "version": _VERSION,
        "info": dict(sorted(manifest.info.items())),
        "entries": [{"key": one.key, "size": one.size, "sha256": one.sha256} for one in manifest.entries],
    }
    return json.dumps(document, indent=1).encode()


def read_manifest(archive: zipfile.ZipFile) -> Manifest:
    """The manifest, when every name is safe and it names just the members that are there, with their sizes.

    Raises:
        InputError: it does not; or it is no manifest of this version.
    """
    members = {info.filename: info for info in _members(archive)}
    found = members.pop(MANIFEST, None)
    if found is None:
        raise InputError(f"it has no {MANIFEST}")
    if found.file_size > _LARGEST:
        raise InputError(f"its manifest has {found.file_size} bytes; {_LARGEST} are the most")
    manifest = _parse(archive.read(found))
    sizes = {ENTRIES + entry.key: entry.size for entry in manifest.entries}
    if len(sizes) != len(manifest.entries):
        raise InputError("its manifest names an entry twice")
    for name in sorted(sizes.keys() ^ members.keys()):
        raise InputError(f"{name!r} is {'missing' if name in sizes else 'not in its manifest'}")
    for name, size in sizes.items():
        if members[name].file_size != size:
            raise InputError(f"{name!r} has {members[name].file_size} bytes, and {size} by its manifest")
    return manifest


def _members(archive: zipfile.ZipFile) -> Iterator[zipfile.ZipInfo]:
    names = set()
    for info in archive.infolist():
        name = info.orig_filename  # as it is written: what zipfile makes of it has no NUL and other slashes
        if name != MANIFEST:
            problem = "it is not below entries/" if not name.startswith(ENTRIES) else _problem(name[len(ENTRIES) :])
            if problem:
                raise InputError(f"its member {name!r} is not safe: {problem}")
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG):
            raise InputError(f"its member {name!r} is no plain file")
        if info.flag_bits & _ENCRYPTED or info.compress_type not in _METHODS:
            raise InputError(f"its member {name!r} is encrypted, or compressed in a way that is not read here")
        if name in names:
            raise InputError(f"its member {name!r} is there twice")
        names.add(name)
        yield info


def _problem(key: object) -> str | None:
    problem = key_problem(key)
    if problem is None and str(key).startswith(QUARANTINE):
        problem = "such keys are for what was moved aside"
    return problem


def _parse(data: bytes) -> Manifest:
    try:
        document: Any = json.loads(data)
        if document["format"] != _FORMAT:
            raise InputError("it is no bundle of ortcache's")
        if type(document["version"]) is not int or document["version"] != _VERSION:
            raise InputError(f"it has format version {document['version']!r}; {_VERSION} is read here")
        info = document["info"]
        if not isinstance(info, dict) or not all(isinstance(text, str) for text in info.values()):
            raise InputError("the info in its manifest is not text")
        return Manifest(tuple(map(_entry, list(document["entries"]))), info)
    except InputError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise InputError(f"its manifest cannot be read: {type(error).__name__}: {error}") from error


def _entry(entry: Any) -> BundleEntry:
    key, size, digest = entry["key"], entry["size"], entry["sha256"]
    problem = _problem(key)
    if problem:
        raise InputError(f"its manifest names {key!r}, which is not safe: {problem}")
    if type(size) is not int or size < 0 or not isinstance(digest, str):
        raise InputError(f"its manifest has no size and digest for {key!r}")
    return BundleEntry(key, size, digest)
