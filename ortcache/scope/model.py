"""The digest of a model: its bytes, and those of the files that its weights lie in."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import BinaryIO

from ..errors import InputError
from ..stores.protocol import Buffer
from .wire import LOCATION, external_locations

__all__ = ["model_digest"]

_CHUNK = 1 << 20


def model_digest(model: str | os.PathLike[str] | Buffer, external_data: str | os.PathLike[str] | None = None) -> str:
    """Text that is another one when any byte of the model or of its weights is.

    Nothing but the bytes counts: neither the path nor a time. They are read anew at every call, in pieces: size and
    times of a file do not say that it is the same.

    Args:
        model: a path, or the model's bytes. ORT-format models are no more than their bytes.
        external_data: the folder in which external data lies, where that is not the model's own.

    Returns:
        ``sha256:`` and what ``sha256sum`` says of the model; behind that the digest of the external files, if any.

    Raises:
        InputError: a file cannot be read, external data lies outside of the folder (ONNX Runtime refuses that too), or
            the model's bytes name external data and there is no folder.
    """
    if isinstance(model, bytes | bytearray | memoryview):
        folders = [Path(external_data)] if external_data is not None else []
        return _digest(io.BytesIO(bytes(model)), "the model", folders)
    path = Path(model)
    with _opened(path, "the model") as stream:
        # ONNX Runtime allows the folder that names the model, and where that is a link, the one that it leads to.
        folders = [Path(external_data)] if external_data is not None else [path.parent, path.resolve().parent]
        return _digest(stream, f"the model {path}", folders)


def _digest(stream: BinaryIO, what: str, folders: list[Path]) -> str:
    digest = _hash(stream)
    locations = _locations(stream)
    if not locations:
        return f"sha256:{digest}"
    if not folders:
        raise InputError(
            f"{what} has external data ({min(locations)!r}, …): give its path, or external_data= with the folder"
        )
    files = hashlib.sha256()
    for location in sorted(locations):
        with _opened(_place(location, what, folders), f"the external data of {what}") as data:
            name = location.encode()
            files.update(b"%d:%s%s" % (len(name), name, _hash(data).encode()))
    return f"sha256:{digest} external:{files.hexdigest()}"


def _hash(stream: BinaryIO) -> str:
    return hashlib.file_digest(stream, "sha256").hexdigest()  # type: ignore[arg-type]


def _locations(stream: BinaryIO) -> set[str]:
    size = stream.seek(0, io.SEEK_END)
    stream.seek(0)
    head = stream.read(8)
    try:
        return external_locations(stream, size)
    except InputError:
        # The ORT format has no external data, and neither has what nowhere has the name of such an entry.
        if head[4:] == b"ORTM" or not _holds(stream, LOCATION):
            return set()
        raise


def _holds(stream: BinaryIO, text: bytes) -> bool:
    stream.seek(0)
    before = b""
    while chunk := stream.read(_CHUNK):
        if text in chunk or text in before + chunk[: len(text)]:
            return True
        before = (before + chunk[-len(text) :])[-len(text) :]
    return False


def _place(location: str, what: str, folders: list[Path]) -> Path:
    """The file at a location; refused where it is not below one of the folders, wherever links lead."""
    windows = PureWindowsPath(location)
    if not location or "\0" in location or PurePosixPath(location).is_absolute() or windows.drive or windows.root:
        raise InputError(f"{what} has external data at {location!r}: a path in the model's folder is needed")
    place = folders[0] / location
    try:
        real = place.resolve(strict=True)
        allowed = any(real.is_relative_to(folder.resolve()) for folder in folders)
    except (OSError, RuntimeError) as error:
        raise InputError(f"{what} has external data at {location!r}, which cannot be read: {error}") from error
    if not allowed:
        raise InputError(f"{what} has external data at {location!r}, which lies outside of {folders[0]}")
    return place


def _opened(path: Path, what: str) -> BinaryIO:
    try:
        if not path.is_file():
            raise InputError(f"{what}: {path} is {'no file' if path.exists() else 'not there'}")
        return path.open("rb")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what}: {path} cannot be read: {error}") from error
