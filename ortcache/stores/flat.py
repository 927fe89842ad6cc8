"""The bytes of any buffer, in a row."""

from __future__ import annotations

from .protocol import Buffer

__all__ = ["flat"]


def flat(value: Buffer) -> memoryview:
    """A view of single bytes. Only a value with gaps is copied for it."""
    view = memoryview(value)
    return view.cast("B") if view.c_contiguous and view.nbytes else memoryview(view.tobytes())
