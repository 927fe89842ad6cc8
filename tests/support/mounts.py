"""Small file systems of one process alone: nobody else sees them, and they go when it ends."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .oracles import need

__all__ = ["OWN_MOUNTS", "need_mounts"]

#: At the start of a process's code: what it mounts from here on is its own.
OWN_MOUNTS = """
import os, sys
if "OWN_MOUNTS" not in os.environ:
    os.environ["OWN_MOUNTS"] = "1"
    os.execvp("unshare", ["unshare", "-m", *sys.orig_argv])
"""


def need_mounts(folder: Path) -> None:
    """Skip the test where this user may not mount."""
    if sys.platform != "linux":
        need("root", False)
    tried = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", folder], capture_output=True, check=False)
    need("root", tried.returncode == 0)
