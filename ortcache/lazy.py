"""Names of a package that are imported when they are asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Mapping

__all__ = ["lazy_names"]


def lazy_names(
    package: str, names: Mapping[str, str], packages: Iterable[str] = ()
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The ``__getattr__`` and the ``__dir__`` of a package.

    Args:
        package: its name.
        names: each public name, and the module below the package that has it.
        packages: subpackages that are public themselves.
    """
    known = frozenset(packages)

    def get(name: str) -> object:
        if name in known:
            return importlib.import_module(f".{name}", package)
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(importlib.import_module(f".{names[name]}", package), name)
        setattr(sys.modules[package], name, value)
        return value

    def names_there() -> list[str]:
        return sorted({*vars(sys.modules[package]), *names, *known})

    return get, names_there
