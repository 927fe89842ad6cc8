"""Processes that own a directory, and what they leave."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from ortcache.bridge import private

from ..support.oracles import ROOT

__all__ = ["OWNER", "left", "start", "sweep"]

#: Makes a directory with a file, says that it did, and then does what it is told.
OWNER = """
import os, sys, time
from ortcache import bridge
from ortcache.stores import DirectoryStore
d = bridge.directory(DirectoryStore(sys.argv[1]), "fake", scope="v1", root=sys.argv[2])
(d.path / "engine").write_bytes(b"engine")
print(d.path, flush=True)
"""


def start(code: str, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", code, *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left(root: Path) -> list[str]:
    return [path.name for path in root.iterdir()]


def sweep(root: Path) -> None:
    private.sweep([root], "nothing")
