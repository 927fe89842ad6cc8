"""Generated modules, loaded from a folder as a package of their own."""

from __future__ import annotations

import importlib.util
import shutil
import sys
from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

from gen.build import write
from gen.paths import RAW

__all__ = ["load"]

_numbers = count()


def load(files: Mapping[str, str], folder: Path) -> Any:
    """What ``ortcache.raw`` would be with these files: written to ``folder`` beside the support file, and imported."""
    write(dict(files), folder)
    shutil.copy(RAW / "_support.py", folder)
    name = f"generated_raw_{next(_numbers)}"
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
