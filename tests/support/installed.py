"""Files of the installed onnxruntime package, found without importing it."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ortcache.core.library import find_library

from .oracles import need

__all__ = ["dataset", "find_ocr_model", "library_file", "ocr_model", "package_folder"]


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


def find_ocr_model() -> Path | None:
    """Text recognition of an OCR package, 11 MB; None where the package is not installed."""
    spec = importlib.util.find_spec("rapidocr_onnxruntime")
    for place in spec.submodule_search_locations or () if spec else ():
        return Path(place) / "models" / "ch_PP-OCRv4_rec_infer.onnx"
    return None


def ocr_model() -> Path:
    """The same, where the test needs it."""
    found = find_ocr_model()
    need("models", found)
    assert found is not None
    return found
