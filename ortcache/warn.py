"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

__all__ = ["warn_user"]

#: This package, and what stands between two of its frames where one is in a context manager.
_OURS = (__name__.partition(".")[0], "contextlib")


def warn_user(message: str, category: type[Warning] = RuntimeWarning) -> None:
    """Warn at the frame that called into this package, however deep the caller is in it."""
    frame = sys._getframe(1)
    level = 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in _OURS:
        frame = frame.f_back
        level += 1
    warnings.warn(message, category, stacklevel=level)
