"""Find ONNX Runtime's shared library and load it by its absolute path."""

from __future__ import annotations

import ctypes
import ctypes.util
import importlib.util
import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import LibraryNotFoundError, NotOnnxRuntimeError
from ..warn import warn_user
from .elf import truncation

__all__ = ["ENVIRONMENT", "Choice", "find_library", "load_library", "mapped_images"]

#: Names a library file, or a folder that holds one.
ENVIRONMENT = "ORTCACHE_LIBRARY"

_FILE_NAMES = {
    "linux": ("libonnxruntime.so", "libonnxruntime.so.*"),
    "darwin": ("libonnxruntime.dylib", "libonnxruntime.*.dylib"),
    "win32": ("onnxruntime.dll",),
}

# A glob takes a copy that somebody put aside (….so.1.32.0.bak) too.
_NAME = re.compile(r"(lib)?onnxruntime[\d.]*\.(so|dylib|dll)[\d.]*")


@dataclass
class Choice:
    """Which library, and why that one.

    Attributes:
        path: the file, absolute; a bare name only for a library that the system's loader finds by itself.
        source: what led to it, in words.
        tried: every place that was looked at before, with what was found there.
    """

    path: Path
    source: str
    tried: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        return f"{self.path} ({self.source})"


def find_library(path: str | os.PathLike[str] | None = None) -> Choice:
    """Choose the library: ``path``, else `ENVIRONMENT`, else the installed onnxruntime wheel, else the system's.

    What is named explicitly must be there: there is no falling back from it.

    Raises:
        LibraryNotFoundError: nothing was found.
    """
    if path is not None:
        return _named(path, "path given")
    named = os.environ.get(ENVIRONMENT)
    if named:
        return _named(named, f"{ENVIRONMENT} in the environment")
    tried = [f"{ENVIRONMENT}: not set"]
    for look in (_wheel, _system):
        found = look(tried)
        if found is not None:
            return found
    raise LibraryNotFoundError(
        "no ONNX Runtime library was found. Install one with `pip install onnxruntime`, or name a file with "
        f"ortcache.load(path=...) or {ENVIRONMENT}. Looked at:\n" + "\n".join(f"  {line}" for line in tried)
    )


def load_library(choice: Choice) -> ctypes.CDLL:
    """Load the chosen library and see that it exports ``OrtGetApiBase``.

    Raises:
        NotOnnxRuntimeError: the system cannot load it, or it is something else.
    """
    before = mapped_images()
    damage = truncation(choice.path)
    if damage:
        raise NotOnnxRuntimeError(f"{choice}: {damage}. Copy or install it again.")
    try:
        library = ctypes.CDLL(os.fspath(choice.path))
    except OSError as error:
        raise NotOnnxRuntimeError(f"{choice}: the system cannot load this library: {error}") from error
    if not hasattr(library, "OrtGetApiBase"):
        raise NotOnnxRuntimeError(
            f"{choice}: this library does not export OrtGetApiBase, so it is not ONNX Runtime. Name "
            f"{_patterns()[0]} of a release archive, or the file in the wheel's onnxruntime/capi folder."
        )
    _warn_of_another_image(choice.path, before)
    return library


def _patterns() -> tuple[str, ...]:
    return _FILE_NAMES.get(sys.platform, _FILE_NAMES["linux"])


def _named(text: str | os.PathLike[str], source: str) -> Choice:
    if not os.fspath(text):
        raise LibraryNotFoundError(f"{source}: it is empty; name a library file, or a folder that holds one")
    try:
        path = Path(text).expanduser().absolute()
        folders = [path, path / "lib", path / "capi"] if path.is_dir() else []
        found = next(filter(None, map(_in_folder, folders)), None)
        there = path.exists()
    except (OSError, RuntimeError) as error:  # no right to look, a name that is too long, no such user's home
        raise LibraryNotFoundError(f"{source}: {os.fspath(text)} cannot be looked at: {error}") from error
    if folders and not found:
        raise LibraryNotFoundError(f"{source}: {path} holds no {' or '.join(_patterns())} (nor do its lib and capi)")
    if not there:
        raise LibraryNotFoundError(f"{source}: there is no file {path}")
    return Choice(found or path, source)


def _in_folder(folder: Path) -> Path | None:
    """The library in a folder; of several versions the newest."""
    files = (file for pattern in _patterns() for file in folder.glob(pattern))
    found = [file for file in files if _NAME.fullmatch(file.name) and file.is_file()]
    return max(found, key=_file_version, default=None)


def _file_version(path: Path) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", path.name))


def _wheel(tried: list[str]) -> Choice | None:
    """The library that the installed onnxruntime package ships, whatever its flavour; nothing of it is imported."""
    try:
        spec = importlib.util.find_spec("onnxruntime")
    except (ImportError, ValueError) as error:
        tried.append(f"onnxruntime package: {error}")
        return None
    folders = [Path(p) for p in spec.submodule_search_locations or ()] if spec else []
    if not folders:
        tried.append("onnxruntime package: not installed for this Python")
        return None
    for folder in folders:
        found = _in_folder(folder / "capi")
        if found:
            return Choice(found.absolute(), "the installed onnxruntime package", tried)
        tried.append(f"{folder / 'capi'}: this onnxruntime ships no {_patterns()[-1]}; 1.20 and later do")
    return None


def _system(tried: list[str]) -> Choice | None:
    name = ctypes.util.find_library("onnxruntime")
    if name is None:
        tried.append("the system's library folders: no onnxruntime")
        return None
    path = Path(name)
    return Choice(path if path.is_absolute() else _resolve(name), "the system's library folders", tried)


def _resolve(name: str) -> Path:
    """Where the loader finds a bare name: it is loaded, and asked."""
    try:
        ctypes.CDLL(name)
    except OSError:
        return Path(name)
    return next((p for p in mapped_images() if p.name.startswith(name.partition(".so")[0])), Path(name))


def mapped_images() -> list[Path]:
    """The ONNX Runtime libraries that this process has mapped; empty where the system does not tell."""
    try:
        maps = Path("/proc/self/maps").read_text("utf-8", "surrogateescape")
    except OSError:
        return []
    names = {line.split(maxsplit=5)[5].rstrip("\n") for line in maps.splitlines() if "libonnxruntime.so" in line}
    return sorted(Path(name) for name in names)


def _warn_of_another_image(path: Path, mapped: list[Path]) -> None:
    """Two images share nothing: an environment or an EP registered in one is not there in the other."""
    others = [image for image in mapped if not _same_file(image, path)]
    if others:
        warn_user(
            f"this process already holds another ONNX Runtime, {others[0]}; {path} is a second one, and what is "
            "registered or created in one is unknown to the other"
        )


def _same_file(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return False
