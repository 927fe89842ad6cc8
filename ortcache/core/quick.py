"""The same functions for the few places where a call's own time counts: nothing is checked, pointers are addresses."""

from __future__ import annotations

import ctypes
from typing import Any

from ..raw._support import bindings
from .table import RawTable

__all__ = ["Quick"]


class Quick:
    """Functions of a table that take and give pointers as plain addresses, which halves the time of a call.

    A function that gives an OrtStatus gives its address, None for success. ctypes' arrays and typed pointers are
    taken too. An address of the wrong thing ends the process: this is for callers that made it themselves.
    """

    def __init__(self, table: RawTable) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        typed = getattr(self._table, name)
        kinds = [_untyped(kind) for kind in (typed.restype, *typed.argtypes)]
        function = bindings().stdcall(*kinds)(ctypes.cast(typed, ctypes.c_void_p).value or 0)
        self.__dict__[name] = function  # the next access does not come here
        return function


def _untyped(kind: Any) -> Any:
    return ctypes.c_void_p if hasattr(kind, "contents") else kind
