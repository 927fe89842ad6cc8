"""The two backends of EP cache callbacks in tests: the host on the real library, and the native path.

The native path needs bindings that hold the proposal's functions as ordinary slots, so it is a process of its own:
`native_package` (in a module of that name) writes a copy of ortcache with such bindings, and
``ORTCACHE_TEST_BACKEND=native`` says that they are in use.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

__all__ = ["VARIABLE", "child", "open_runtime", "variables", "wanted"]

VARIABLE = "ORTCACHE_TEST_BACKEND"
_ROOT = Path(__file__).resolve().parents[2]
_future: list[Any] = []


def wanted() -> str:
    """The backend that this process tests."""
    return os.environ.get(VARIABLE, "host")


def open_runtime(**settings: Any) -> Any:
    """A Runtime on the backend that is wanted."""
    from ortcache.core.loader import open_native
    from ortcache.runtime import Runtime, load

    if wanted() == "host":
        return load(**settings)
    from .native_library import NativeLibrary

    if not _future:
        _future.append(NativeLibrary(open_native()))
    return Runtime(_future[0].native, **settings)


def variables(backend: str | None = None, path: str | None = None) -> dict[str, str]:
    """Environment of a child process: the same backend as here, where nothing else is said."""
    backend = backend or wanted()
    path = path or (os.environ["PYTHONPATH"] if backend == "native" else str(_ROOT))
    # Safe path: the current folder has an ortcache, too.
    return {VARIABLE: backend, "PYTHONPATH": path, "PYTHONSAFEPATH": "1"}


def child(code: str, *args: object, **how: Any) -> str:
    """`run_python` on the same backend."""
    from .process import run_python  # it needs pytest, and the children start faster without

    return run_python(code, *args, **{"timeout": 60, **variables(), **how})
