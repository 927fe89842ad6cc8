"""The installed packages that matter here, from their metadata: nothing of them is imported."""

from __future__ import annotations

import contextlib
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
        return _version(importlib.metadata.distribution(name))
    except importlib.metadata.PackageNotFoundError:
        return None


def _onnxruntime() -> dict[str, tuple[str, bool]]:
    found: dict[str, tuple[str, bool]] = {}
    for distribution in importlib.metadata.distributions():
        name = re.sub(r"[-_.]+", "-", _name(distribution)).lower()
        if name.startswith(("onnxruntime", "ort-")) and name not in found:
            found[name] = (_version(distribution), _owns(distribution))
    return dict(sorted(found.items()))


# Of a broken installation, files of the metadata may be missing, cut short, or anything else.


def _name(distribution: importlib.metadata.Distribution) -> str:
    with contextlib.suppress(Exception):
        return distribution.metadata["Name"] or ""
    folder = getattr(distribution, "_path", None)  # such as onnxruntime-1.32.0.dist-info
    return getattr(folder, "name", "").partition("-")[0]


def _version(distribution: importlib.metadata.Distribution) -> str:
    try:
        return distribution.version or "(its metadata has no version)"
    except Exception as error:
        return f"(its metadata cannot be read: {error})"


def _owns(distribution: importlib.metadata.Distribution) -> bool:
    with contextlib.suppress(Exception):
        return any(str(file) == "onnxruntime/__init__.py" for file in distribution.files or ())
    return False
