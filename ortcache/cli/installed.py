"""The installed packages that matter here, from their metadata: nothing of them is imported."""

from __future__ import annotations

import importlib.metadata
import re

__all__ = ["flavours", "related", "version_of"]


def flavours() -> dict[str, str]:
    """The packages that bring the module ``onnxruntime``, with versions. More than one overwrite each other's files."""
    return {name: version for name, (version, owns) in _onnxruntime().items() if owns}


def related() -> dict[str, str]:
    """The other packages whose name says onnxruntime: plugin EPs, extensions and the like."""
    return {name: version for name, (version, owns) in _onnxruntime().items() if not owns}


def version_of(name: str) -> str | None:
    """A package's version; None where it is not installed."""
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _onnxruntime() -> dict[str, tuple[str, bool]]:
    found: dict[str, tuple[str, bool]] = {}
    for distribution in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", distribution.metadata["Name"] or "").lower()
        if name.startswith(("onnxruntime", "ort-")) and name not in found:
            owns = any(str(file) == "onnxruntime/__init__.py" for file in distribution.files or ())
            found[name] = (distribution.version, owns)
    return dict(sorted(found.items()))
