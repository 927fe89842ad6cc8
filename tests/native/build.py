"""Builds the C plugin with the fetched headers, where there are headers and a compiler."""

from __future__ import annotations

import subprocess
from pathlib import Path

from ..support.oracles import ROOT, compiler, headers

__all__ = ["build_plugin"]


def build_plugin(folder: Path, *, callbacks: bool, ask: int | None = None, write_at_end: bool = False) -> Path:
    """Compile ``mul_ep.c``.

    Args:
        callbacks: with the EP cache functions, or knowing nothing of them.
        ask: the API version that it asks for; None for the headers' own.
        write_at_end: with the functions, writing a value when its session is released, too.
    """
    library = folder / f"mul_ep-{'callbacks' if callbacks else 'plain'}-{ask or 'own'}{'-end' * write_at_end}.so"
    defines = ["-DWITH_CALLBACKS"] * callbacks + [f"-DASK={ask}"] * bool(ask) + ["-DWRITE_AT_END"] * write_at_end
    command = [
        compiler(), "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-fvisibility=hidden",
        *defines, "-I", headers("1.29"), "-I", ROOT / "headers",
        Path(__file__).with_name("mul_ep.c"), "-o", library,
    ]  # fmt: skip
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    return library
