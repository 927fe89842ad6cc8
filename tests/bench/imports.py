"""Import times, each in a fresh interpreter."""

from __future__ import annotations

from collections.abc import Callable

from .measure import Row, alternate, child

__all__ = ["rows"]

_TIMED = "import time; start = time.perf_counter(); {}; print(time.perf_counter() - start)"


def rows() -> list[Row]:
    names = child("import sys, ortcache; print(*{'numpy', 'ctypes', 'onnxruntime'} & set(sys.modules))")
    if names:
        raise RuntimeError(f"import ortcache pulls in {names}")
    return [
        _row("import", "import ortcache", "import onnxruntime", 1 / 8),
        _row("import and load the library", "import ortcache; ortcache.load()", "import onnxruntime", None),
    ]


def _row(what: str, ours: str, theirs: str, goal: float | None) -> Row:
    mine, others, ratio = alternate(_seconds(ours), _seconds(theirs), 15)
    return Row(what, f"{mine * 1e3:.1f} ms", f"{others * 1e3:.1f} ms", ratio, goal)


def _seconds(statements: str) -> Callable[[], float]:
    code = _TIMED.format(statements)
    return lambda: float(child(code))
