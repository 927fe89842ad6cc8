"""A compiled plugin execution provider, for what only a real library shows."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from ortcache import raw

from .oracles import compiler

__all__ = ["EP_NAME", "build_plugin"]

EP_NAME = "TestExecutionProvider"
_SOURCE = Path(__file__).with_suffix(".c")
_STRUCTS = {"API": "OrtApi", "EPAPI": "OrtEpApi", "FACTORY": "OrtEpFactory", "EP": "OrtEp"}
_VERSION = 23  # the oldest that plugins work with


def build_plugin(path: Path) -> Path:
    """Compile the plugin to this file."""
    used = set(re.findall(r"\b(EPAPI|API|FACTORY|EP)_(\w+)", _SOURCE.read_text("utf-8")))
    assert len(used) > 15
    defines = [f"-D{part}_{name}={_index(_STRUCTS[part], name)}" for part, name in sorted(used)]
    command = [compiler(), "-shared", "-fPIC", "-w", f"-DVERSION={_VERSION}", *defines, "-o", path, _SOURCE]
    subprocess.run(command, check=True)
    return path


def _index(struct: str, name: str) -> int:
    slot = next((i, s) for i, s in enumerate(raw.slots(struct)) if s.name == name)
    assert isinstance(slot[1].since, int) and slot[1].since <= _VERSION, f"{struct}.{name} is newer"
    return slot[0]
