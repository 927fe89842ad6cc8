"""The command line as a user runs it: a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from .oracles import ROOT

__all__ = ["Result", "run", "shadow"]


@dataclass
class Result:
    code: int
    out: str
    err: str


def run(*args: str, path: Path | None = None, **environment: str) -> Result:
    """Run ``python -m ortcache``; ``path`` goes before everything else that Python imports from."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("ORTCACHE_")}
    env |= {"PYTHONPATH": os.pathsep.join([*([str(path)] if path else []), str(ROOT)]), **environment}
    done = subprocess.run(
        [sys.executable, "-m", "ortcache", *args],
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=200,
        check=False,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def shadow(folder: Path, name: str, source: str = "") -> Path:
    """A package under ``folder`` that hides the installed one of that name; gives ``folder``."""
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text(source, "utf-8")
    return folder
