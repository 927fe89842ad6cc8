"""Builds the C plugin with the fetched headers, where there are headers and a compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..support.oracles import ROOT, compiler, headers

__all__ = ["build_plugin"]


def build_plugin(folder: Path, *, callbacks: bool, ask: int | None = None) -> Path:
    """Compile ``mul_ep.c``.

    Args:
        callbacks: with the EP cache functions, or knowing nothing of them.
        ask: the API version that it asks for; None for the headers' own.
    """
    library = folder / f"mul_ep-{'callbacks' if callbacks else 'plain'}-{ask or 'own'}.so"
    defines = [*(["-DWITH_CALLBACKS"] if callbacks else []), *([f"-DASK={ask}"] if ask else [])]
    command = [
        compiler(), "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
        *defines, "-I", headers("1.29"), "-I", ROOT / "headers",
        Path(__file__).with_name("mul_ep.c"), "-o", library,
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return library
