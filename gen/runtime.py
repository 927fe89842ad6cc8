"""A header set as ctypes types: the generated declarations, loaded on the support file of ``ortcache.raw``.

The support file is read by its path: the generator imports nothing of the package that it writes.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from .emit import emit
from .model import Header
from .paths import RAW

__all__ = ["Loaded", "load"]

_NAME = "ortcache_raw_support_for_gen"


class Loaded:
    """The types by their C names, and the enums' classes and the constants as the generated modules have them."""

    def __init__(self, files: dict[str, str]) -> None:
        declared = _run(files["_declarations.py"])
        self.bindings = _support().Bindings(
            structs=declared["STRUCTS"],
            unions=declared["UNIONS"],
            packed=declared["PACKED"],
            anonymous=declared["ANONYMOUS"],
            callbacks=declared["CALLBACKS"],
            handles=declared["HANDLES"],
            enums=declared["ENUMS"],
        )
        self.enums = _run(files["enums.py"])
        self.constants = _run(files["constants.py"])


def load(header: Header) -> Loaded:
    """What the package would be, generated from the header set without overlays."""
    return Loaded(emit(header, []))


def _run(text: str) -> dict[str, Any]:
    names: dict[str, Any] = {"__name__": _NAME}
    exec(compile(text, "<generated>", "exec"), names)  # text of our own making: it declares tables, and nothing else
    return names


def _support() -> Any:
    if _NAME not in sys.modules:
        spec = importlib.util.spec_from_file_location(_NAME, RAW / "_support.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[_NAME] = module
        spec.loader.exec_module(module)
    return sys.modules[_NAME]
