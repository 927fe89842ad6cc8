"""Where headers come from: an npm package, an archive, a folder. Each gives candidates; `fetch` chooses and verifies.

Nothing of an archive is unpacked: the headers in it are read, and everything else is passed over.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from .errors import GenError
from .sources import MAIN_HEADER, header_files

__all__ = ["Candidate", "from_archive", "from_folder", "from_npm"]

#: The largest real header has half a megabyte.
_HEADER_LIMIT = 8 << 20

#: The largest library in a real release archive has less than one gigabyte.
_MEMBER_LIMIT = 4 << 30

_DRIVE = re.compile(r"[A-Za-z]:")
_NPM = re.compile(r"(@[a-z0-9][a-z0-9._-]*/)?[a-z0-9][a-z0-9._-]*@\d+\.\d+\.\d+[a-z0-9.+-]*", re.IGNORECASE)

#: Where an include folder, a release archive, a checkout and a NuGet package keep the C API's headers.
_FOLDERS = (
    ".", "include", "include/onnxruntime/core/session", "onnxruntime/core/session", "core/session",
    "include/onnxruntime", "build/native/include",
)  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """The headers of one folder. ``place`` is for people; ``inside`` is the folder's path in an archive."""

    place: str
    files: dict[str, bytes]
    inside: str | None = None


@dataclass(frozen=True)
class _Member:
    name: str
    size: int
    regular: bool
    open: Callable[[], IO[bytes]]


def from_folder(folder: Path) -> list[Candidate]:
    """The headers of an include folder, an unpacked release, or a checkout."""
    if not folder.is_dir():
        raise GenError(f"no such folder: {folder}")
    for inner in _FOLDERS:
        place = folder / inner
        if (place / MAIN_HEADER).is_file():
            return [Candidate(str(place), _folder_files(place))]
    raise GenError(
        f"{folder} holds no {MAIN_HEADER}, neither itself nor in {', '.join(_FOLDERS[1:])}: "
        "name the include folder of a release, or a checkout of ONNX Runtime"
    )


def from_archive(archive: Path) -> list[Candidate]:
    """The header folders in a .tgz or .zip: a release archive, a NuGet package, a tarball of npm.

    Raises:
        GenError: the file is no archive or is damaged; a path in it climbs out, a header in it is a link, or
            something in it is too large to be what it says.
    """
    if not archive.is_file():
        raise GenError(f"no such archive: {archive}")
    try:
        if zipfile.is_zipfile(archive):
            with zipfile.ZipFile(archive) as opened:
                folders = _folders(archive, _zip_members(opened))
        else:
            with tarfile.open(archive, "r:*") as unpacked:
                folders = _folders(archive, _tar_members(unpacked))
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, OSError, RuntimeError, ValueError) as error:
        raise GenError(f"cannot read {archive} as a .tgz or .zip archive: {' '.join(str(error).split())}") from error
    found = [
        Candidate(f"{archive.name}: {place}", header_files(files, partial(_wanted, files)), place)
        for place, files in folders.items()
        if MAIN_HEADER in files
    ]
    if not found:
        raise GenError(f"{archive} holds no {MAIN_HEADER}: is it an ONNX Runtime release with its include folder?")
    return found


def from_npm(package: str) -> list[Candidate]:
    """The header folders in an npm package of one exact version, brought by ``npm pack``."""
    if not _NPM.fullmatch(package):
        raise GenError(f"{package!r} is not an npm package with an exact version, such as name@1.2.3")
    npm = shutil.which("npm")
    if npm is None:
        raise GenError(
            "npm is not on PATH. Install Node.js, which brings it, or give what you have: "
            "`python -m gen fetch RELEASE --archive FILE` reads an ONNX Runtime release archive (.tgz or .zip), "
            "`--from DIR` an include folder or a checkout. The committed snapshots are enough for `build` and `diff`"
        )
    with tempfile.TemporaryDirectory(prefix="ortcache-fetch-") as folder:
        command = [npm, "pack", package, "--ignore-scripts", "--loglevel=error", "--pack-destination", folder]
        done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            said = done.stderr.decode("utf-8", "replace").strip().splitlines()
            raise GenError(f"`npm pack {package}` failed: {' / '.join(said[:4]) or f'exit code {done.returncode}'}")
        packed = sorted(Path(folder).glob("*.tgz"))
        if len(packed) != 1:
            raise GenError(f"`npm pack {package}` left {len(packed)} archives where one was expected")
        return from_archive(packed[0])


def _folder_files(folder: Path) -> dict[str, bytes]:
    try:
        names = [path.name for path in folder.iterdir() if path.is_file()]
        return header_files(names, lambda name: (folder / name).read_bytes())
    except OSError as error:
        raise GenError(f"cannot read {error.filename}: {error.strerror}") from error


def _wanted(files: Mapping[str, bytes | GenError], name: str) -> bytes:
    data = files[name]
    if isinstance(data, GenError):
        raise data
    return data


def _folders(archive: Path, members: Iterator[_Member]) -> dict[str, dict[str, bytes | GenError]]:
    """Folder to the headers in it; an error in place of one that is refused as soon as it is needed."""
    folders: dict[str, dict[str, bytes | GenError]] = {}
    for member in members:
        path = PurePosixPath(member.name.replace("\\", "/"))
        where = f"{archive.name}: {member.name}"
        if path.is_absolute() or ".." in path.parts or _DRIVE.match(member.name):
            raise GenError(f"{where}: this path leads out of the archive: refused")
        if member.size > _MEMBER_LIMIT:
            raise GenError(f"{where}: {member.size} bytes are more than any release holds: refused")
        if path.suffix != ".h":
            continue
        files = folders.setdefault(str(path.parent), {})
        if path.name in files:
            files[path.name] = GenError(f"{where} is in the archive twice: refused")
        elif not member.regular:
            files[path.name] = GenError(f"{where} is a link or a device, not a file: refused")
        else:
            files[path.name] = _read(member, where)
    return folders


def _read(member: _Member, where: str) -> bytes | GenError:
    with member.open() as opened:  # what an archive says of a size need not be true
        data = opened.read(_HEADER_LIMIT + 1)
    return data if len(data) <= _HEADER_LIMIT else GenError(f"{where} is larger than any header: refused")


def _tar_members(archive: tarfile.TarFile) -> Iterator[_Member]:
    for info in archive:
        if not info.isdir():
            yield _Member(info.name, info.size, info.isreg(), partial(_opened, archive, info))
    # The checksum of a compressed stream stands at its end, which tarfile has no need to reach.
    while archive.fileobj is not None and archive.fileobj.read(1 << 20):
        pass


def _opened(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    opened = archive.extractfile(info)
    assert opened is not None, "only regular files are opened"
    return opened


def _zip_members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        if not info.is_dir():
            regular = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
            yield _Member(info.filename, info.file_size, regular, partial(archive.open, info))
