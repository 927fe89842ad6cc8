"""Python functions that C calls: pointers to them that live for ever, and the numbers by which C names their targets.

C may call late, from any thread, after everything was closed. So a function pointer is never freed, and what C carries
along as ``void* state`` is no address but a token: one that is not known any more makes the call fail, not crash.
"""

from __future__ import annotations

import ctypes
import itertools
import threading
import weakref
from collections.abc import Callable
from typing import Any

from .. import raw
from ..errors import ClosedError
from ..locks import new_lock
from .native import Native

__all__ = ["ENDING", "Token", "leave_to_c", "status_callback", "status_function", "target"]

#: Set when the interpreter ends and what is younger than this module is closed: from then on nothing of Python's may be
#: called, though C may still do it. A function that C calls holds this itself, as its module is cleared then.
ENDING = threading.Event()

_lock = new_lock()
_numbers = itertools.count(1)
_targets: dict[int, Any] = {}
_pointers: dict[tuple[Native, str, Callable[..., None]], Any] = {}


class Token:
    """A number that stands for a Python object until it is closed, or nobody holds it any more.

    Attributes:
        value: what C gets as ``state``.
    """

    def __init__(self, target: Any) -> None:
        with _lock:
            self.value = next(_numbers)
            _targets[self.value] = target

    def close(self) -> None:
        with _lock:
            _targets.pop(self.value, None)

    __del__ = close


def target(value: int | None) -> Any:
    """What a token stands for; ClosedError for one that is not known (any more)."""
    with _lock:
        try:
            return _targets[value or 0]
        except KeyError:
            raise ClosedError(f"a callback came for token {value}, whose owner is closed") from None


def status_callback(native: Native, kind: str, function: Callable[..., None]) -> Any:
    """A function pointer for C, for a callback type that gives an OrtStatus; it lives for ever.

    Args:
        kind: the callback type's C name.
        function: gets C's arguments. What it raises, whatever it is, becomes the OrtStatus; it returns nothing.
    """
    key = (native, kind, function)
    with _lock:
        if key not in _pointers:
            _pointers[key] = status_function(native, getattr(raw, kind), function)
            leave_to_c(_pointers[key])
        return _pointers[key]


def leave_to_c(item: Any) -> None:
    """Keep an object even when the interpreter clears its modules."""
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(item))


def status_function(native: Native, prototype: Any, function: Callable[..., None]) -> Any:
    """The same for any function-pointer type that gives an OrtStatus. It lives as long as the caller holds it."""
    from_exception = native.statuses.from_exception

    def call(*args: Any) -> int | None:
        try:
            function(*args)
        except BaseException as error:
            return from_exception(error)
        return None

    return prototype(call)


weakref.finalize(Token, ENDING.set)  # finalizers run newest first
