"""Python code in a process of its own: for what could crash, what happens at exit, and what must not be loaded."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

from .oracles import ROOT

__all__ = ["run_python", "start_python"]


def run_python(
    code: str,
    *args: object,
    python: str | Path = sys.executable,
    status: int = 0,
    quiet: bool = True,
    timeout: float = 120,
    **variables: str,
) -> str:
    """Run the code with this project importable; gives what it printed.

    Args:
        args: what it finds in ``sys.argv[1:]``.
        status: the exit status that it must have.
        quiet: nothing may be on stderr.
        variables: environment variables, besides those of this process.
    """
    result = subprocess.run(
        [python, "-c", textwrap.dedent(code), *map(str, args)],
        env=_environment(variables),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        check=False,
    )
    assert result.returncode == status, f"exit status {result.returncode}\n{result.stdout}\n{result.stderr}"
    if quiet:
        assert result.stderr == ""
    return result.stdout


def start_python(code: str, *args: object, **variables: str) -> subprocess.Popen[str]:
    """Start the code with pipes to its stdin, stdout and stderr. Whoever starts it also waits for it."""
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, args)],
        env=_environment(variables),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8", **variables}
