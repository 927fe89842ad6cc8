"""A copy of ortcache whose bindings hold the EP cache functions as ordinary slots, as after they are in a release."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from gen import snapshot
from gen.build import build, write
from gen.importer import import_headers
from gen.paths import OVERLAYS, TABLES
from gen.since import load_tables

from .backends import variables
from .edited_headers import future_headers
from .native_library import VERSION
from .oracles import ROOT, headers

__all__ = ["native_package"]


def native_package(folder: Path) -> dict[str, str]:
    """Write the package into a folder; gives the environment of a process that uses it."""
    text = future_headers(headers("1.29"), folder / "headers", VERSION)
    description = folder / "ort-1.33.json"
    description.write_text(snapshot.dumps(import_headers(text, load_tables(TABLES)).header), "utf-8")
    package = folder / "package" / "ortcache"
    shutil.copytree(ROOT / "ortcache", package, ignore=shutil.ignore_patterns("__pycache__"))
    write(build(description, list(OVERLAYS)), package / "raw")
    return variables("native", os.pathsep.join([str(package.parent), str(ROOT)]))
