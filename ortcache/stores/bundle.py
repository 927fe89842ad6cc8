"""One file with many entries, to ship a warm cache: a zip archive with a manifest.

Each value is a member ``entries/KEY``; ``manifest.json`` has sizes and SHA-256 digests. What ships can be looked at
with any zip tool. Only one value is in memory at a time.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from ..errors import InputError
from ..keys import check_key
from .bundle_manifest import ENTRIES, MANIFEST, BundleEntry, Manifest, dump_manifest, read_manifest
from .protocol import Store
from .readonly import is_read_only
from .size import parse_size
from .temporary import TEMPORARY, Temporary, sweep
from .verified import QUARANTINE

__all__ = ["BundleEntry", "Manifest", "check_bundle", "export_bundle", "import_bundle"]

_CHUNK = 1 << 20

#: What zipfile and zlib raise at an archive that is cut, changed or made up.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, ValueError, OverflowError,
           struct.error, OSError)  # fmt: skip


def export_bundle(
    store: Store,
    target: str | os.PathLike[str] | BinaryIO,
    *,
    keys: Iterable[str] | None = None,
    info: Mapping[str, str] | None = None,
) -> Manifest:
    """Write entries into one file. The same entries make the same bytes.

    Args:
        store: where they are.
        target: a path, or a binary file that can be written to. At a path there is the whole bundle or what was there
            before; only its owner may read it.
        keys: those; None for all that the store lists.
        info: texts to go with them, such as for which version they are.

    Returns:
        What it holds.

    Raises:
        InputError: there is no entry of one of the keys, the path is a directory, or the info is no text.
        StoreError, OSError: what the store, or the target, raises.
    """
    wanted, texts = _wanted(store, keys), dict(info or {})
    if not all(isinstance(text, str) for item in texts.items() for text in item):
        raise InputError("the info of a bundle is text by name")
    if not isinstance(target, str | os.PathLike):
        return _write(store, target, wanted, keys is not None, texts)
    path = Path(target).absolute()
    if path.is_dir():
        raise InputError(f"the bundle {path} would take the place of a directory")
    with os.scandir(path.parent) as found:
        sweep(path.parent, [one.name for one in found if one.name.startswith(TEMPORARY)])
    with Temporary(path.parent) as temporary:
        with os.fdopen(temporary.file, "w+b", closefd=False) as file:
            manifest = _write(store, file, wanted, keys is not None, texts)
        temporary.sync()
        temporary.publish(path)
    return manifest


def check_bundle(source: str | os.PathLike[str] | BinaryIO, *, max_size: str | int | None = None) -> Manifest:
    """Read all of a bundle and say what it holds.

    Args:
        source: a path, or a binary file that can seek.
        max_size: bytes that its values may have together, as `parse_size` takes them; None for any number.

    Raises:
        InputError: it is no bundle, is damaged, has names that are not safe, or is too large.
    """
    with _opened(source) as archive:
        return _checked(archive, max_size)


def import_bundle(
    source: str | os.PathLike[str] | BinaryIO, store: Store, *, max_size: str | int | None = None
) -> Manifest:
    """Put the entries of a bundle into a store, in place of those with the same keys.

    All of the bundle is read and checked first: one that is not as it should be changes nothing. Should the store fail
    on the way, the values that it took until then stay.

    Args:
        source: a path, or a binary file that can seek.
        store: where they go.
        max_size: bytes that its values may have together, as `parse_size` takes them; None for any number.

    Returns:
        What it holds.

    Raises:
        InputError: it is no bundle, is damaged, has names that are not safe, or is too large; or the store is read-only
            or refuses a value.
        StoreError, OSError: what the store raises.
    """
    if is_read_only(store):
        raise InputError("the bundle is not imported: the store is read-only")
    with _opened(source) as archive:
        manifest = _checked(archive, max_size)
        for entry in manifest.entries:
            with _refusing():
                value = archive.read(ENTRIES + entry.key)
                if hashlib.sha256(value).hexdigest() != entry.sha256:
                    raise InputError("it was changed while it was read")
            store.put(entry.key, value)
    return manifest


def _wanted(store: Store, keys: Iterable[str] | None) -> list[str]:
    if keys is None:
        return sorted(key for key in store.keys() if not key.startswith(QUARANTINE))  # noqa: SIM118 - no mapping
    wanted = sorted({check_key(key) for key in keys})
    aside = [key for key in wanted if key.startswith(QUARANTINE)]
    if aside:
        raise InputError(f"{aside[0]!r} is no entry: it was moved aside")
    return wanted


def _write(store: Store, file: BinaryIO, keys: list[str], strict: bool, info: Mapping[str, str]) -> Manifest:
    entries = []
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for key in keys:
            value = store.get(key)
            if value is None:
                if strict:
                    raise InputError(f"there is no entry {key!r}")
                continue  # it went while others were written
            archive.writestr(_member(ENTRIES + key), value)
            entries.append(BundleEntry(key, len(value), hashlib.sha256(value).hexdigest()))
        manifest = Manifest(tuple(entries), info)
        archive.writestr(_member(MANIFEST), dump_manifest(manifest))
    return manifest


def _member(name: str) -> zipfile.ZipInfo:
    """A member that says nothing of when and where it was made."""
    info = zipfile.ZipInfo(name)  # in 1980, when time begins for zip
    info.create_system = 3
    info.external_attr = 0o100644 << 16
    return info


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except (InputError, *_BROKEN) as error:
        said = error if isinstance(error, InputError) else f"it is damaged ({type(error).__name__}: {error})"
        raise InputError(f"the bundle is refused: {said}") from error


@contextlib.contextmanager
def _opened(source: str | os.PathLike[str] | BinaryIO) -> Iterator[zipfile.ZipFile]:
    with contextlib.ExitStack() as stack:
        with _refusing():
            if isinstance(source, str | os.PathLike):
                path = Path(source)
                if not path.is_file():
                    raise InputError(f"{path} is {'no file' if path.exists() else 'not there'}")
                source = stack.enter_context(path.open("rb"))
            archive = stack.enter_context(zipfile.ZipFile(source))
        yield archive


def _checked(archive: zipfile.ZipFile, max_size: str | int | None) -> Manifest:
    limit = None if max_size is None else parse_size(max_size)
    with _refusing():
        manifest = read_manifest(archive)
        if limit is not None and manifest.size > limit:
            raise InputError(f"its values have {manifest.size} bytes; {limit} are allowed")
        for entry in manifest.entries:
            digest, size = hashlib.sha256(), 0
            with archive.open(ENTRIES + entry.key) as member:
                while chunk := member.read(_CHUNK):
                    digest.update(chunk)
                    size += len(chunk)
            if (size, digest.hexdigest()) != (entry.size, entry.sha256):
                raise InputError(f"{entry.key!r} is not what its manifest says")
    return manifest
