"""What a test may lean on that not every machine has, and when its absence is a failure.

`ORTCACHE_TEST_REQUIRE` names what must be there (a comma-separated list; ``all`` for everything, ``-name`` for all but
that): then a test that lacks it fails instead of skipping.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

__all__ = ["ROOT", "compiler", "headers", "need"]

ROOT = Path(__file__).resolve().parents[2]

#: Every name that `need` takes, with what it means.
KNOWN = {
    "headers": "the fetched upstream headers (python -m gen fetch)",
    "gcc": "a C compiler",
    "npm": "npm on PATH",
    "aarch64": "aarch64-linux-gnu-gcc and qemu-aarch64",
    "onnxruntime": "the onnxruntime module",
    "models": "real models from a PyPI package",
    "linux": "Linux",
    "mypy": "the mypy module",
    "redis-server": "redis-server on PATH",
    "moto": "the moto module, an S3 server",
    "obstore": "the obstore module",
    "redis": "the redis module",
    "openssl": "openssl on PATH",
    "rich": "the rich module",
    "root": "root's rights, and the right to mount",
    "openvino": "the plugin EP onnxruntime-ep-openvino beside ONNX Runtime 1.30 or later",
    "openvino-bundled": "ORTCACHE_TEST_OPENVINO, a Python that has onnxruntime-openvino and this package",
}


def need(name: str, there: object) -> None:
    """Skip the test where ``there`` is false, or fail it where the environment requires ``name``."""
    if name not in KNOWN:
        raise ValueError(f"{name!r} is not one of {sorted(KNOWN)}")
    if there:
        return
    required = os.environ.get("ORTCACHE_TEST_REQUIRE", "").split(",")
    if name in required or ("all" in required and f"-{name}" not in required):
        pytest.fail(f"required here, but missing: {KNOWN[name]}")
    pytest.skip(f"needs {KNOWN[name]}")


def headers(release: str) -> Path:
    """The folder of a fetched upstream header set."""
    folder = ROOT / "headers" / "upstream" / release
    need("headers", (folder / "onnxruntime_c_api.h").is_file())
    return folder


def compiler() -> str:
    """The C compiler."""
    found = shutil.which("gcc") or shutil.which("cc") or shutil.which("clang")
    need("gcc", found)
    assert found is not None
    return found
