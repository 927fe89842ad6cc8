"""Files of the installed onnxruntime package, found without importing it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ortcache.core.library import find_library

from .oracles import need

__all__ = ["dataset", "library_file", "package_folder"]


def package_folder() -> Path:
    """Where the onnxruntime package is."""
    spec = importlib.util.find_spec("onnxruntime")
    need("onnxruntime", spec)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def library_file() -> Path:
    """The library that the tests run on: what `load` chooses."""
    package_folder()
    return find_library().path


def dataset(name: str) -> Path:
    """A model of the package's own."""
    path = package_folder() / "datasets" / name
    assert path.is_file()
    return path
