"""C structs of functions whose functions are Python's: a plugin execution provider is made of three kinds of them.

C may call late and from any thread, so a function pointer is never freed: there is one trampoline for each function of
each kind of struct and library. It finds the Python object that is meant by the address of the struct that C passes.

A session that is still there when the interpreter exits is released by nobody, or by its C++ owner when Python is gone.
So at exit what C still has is left to it, with functions to release it that are not Python's.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from .. import raw
from ..core.callbacks import leave_to_c
from ..core.native import Native
from ..errors import ClosedError
from ..locks import new_lock
from ..raw._support import bindings

__all__ = ["Functions", "VTable", "struct_version", "targets"]

#: Member name to the function that implements it: it gets the target, and C's arguments but the first.
Functions = Mapping[str, Callable[..., Any]]

_PATIENCE = 1.0  # seconds at exit, for functions that are being called

_log = logging.getLogger("ortcache.ep")
_NOTHING = ctypes.create_string_buffer(b"")

_lock = new_lock()
_inside: list[None] = []  # one for each call that is going on: append and pop are atomic, so this needs no lock
_ending = False
_main = threading.main_thread().ident
_pause: Any = getattr(ctypes.CDLL(None), "pause", None) if sys.platform != "win32" else None
_tables: dict[int, VTable] = {}  # by the struct's address
_trampolines: dict[tuple[Native, str, str, Callable[..., Any]], Any] = {}


def _in_child() -> None:
    global _main
    _main = threading.get_ident()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)


class VTable:
    """One struct for C, from now until `close`.

    What a function raises becomes the OrtStatus that it gives. One that has no way to report a failure logs it, and
    gives what does no harm.

    Args:
        struct: the struct's C name; it has a member ``ort_version_supported``.
        target: what the functions get first.
        functions: those that are there; the other members are NULL. They are module-level functions or a class's, since
            what is made for each is kept for ever.

    Attributes:
        address: where the struct is.
    """

    def __init__(self, native: Native, struct: str, target: Any, functions: Functions) -> None:
        self.target = target
        self.struct = struct
        self.own = native.choice is not None  # of a library that we opened
        self._memory = getattr(raw, struct)()
        self._memory.ort_version_supported = struct_version(native)
        for name, function in functions.items():
            setattr(self._memory, name, _trampoline(native, struct, name, function))
        self.address = ctypes.addressof(self._memory)
        with _lock:
            _tables[self.address] = self

    def close(self) -> None:
        """C has released it: a call that still comes for it is refused."""
        with _lock:
            _tables.pop(self.address, None)
        self.target = None  # which holds this


def struct_version(native: Native) -> int:
    """What ``ort_version_supported`` says: a member that ORT knows and these headers do not must not be read."""
    return min(native.library_api_version, raw.HEADERS_API_VERSION)


def targets(struct: str) -> list[Any]:
    """What is behind the structs of one kind that C has now."""
    with _lock:
        return [table.target for table in _tables.values() if table.struct == struct]


def _target(struct: str, address: int | None) -> Any:
    with _lock:
        table = _tables.get(address or 0)
    if table is None or table.struct != struct:
        raise ClosedError(f"a call came for an {struct} that was released")
    return table.target


def _trampoline(native: Native, struct: str, name: str, function: Callable[..., Any]) -> Any:
    key = native, struct, name, function
    with _lock:
        if key not in _trampolines:
            _trampolines[key] = _make(native, struct, name, function)
            leave_to_c(_trampolines[key])
        return _trampolines[key]


def _at_exit() -> None:
    global _ending
    _ending = True
    nothing = ctypes.cast(ctypes.pythonapi.Py_IsInitialized, ctypes.c_void_p)  # no arguments, no effect, never gone
    for table in list(_tables.values()):
        leave_to_c(table)
        for name, kind in table._memory._fields_:
            function = getattr(table._memory, name)
            if isinstance(function, int) or not function:
                continue
            if name.startswith("Release"):
                setattr(table._memory, name, ctypes.cast(nothing, kind))
            elif table.own and _pause is not None:  # our sessions are closed by now, but those that are in a run
                setattr(table._memory, name, ctypes.cast(_pause, kind))
    _let_them_out()


def _park() -> None:
    """Keep a daemon thread that came from C. If it came when the interpreter ends, or went on then, it would be unwound
    through C++, which aborts; so it waits for the end of the process."""
    while _pause is not None:
        _pause()


def _let_them_out() -> None:
    """Wait a little for the threads that are in functions of ours: they may go on only as long as Python does."""
    until, quiet = time.monotonic() + _PATIENCE, 0
    while quiet < 5 and time.monotonic() < until:  # one that is on its way in is seen the next time
        time.sleep(0.001)
        quiet = 0 if _inside else quiet + 1


# Finalizers run newest first: every session of ours, which is younger, is closed in order before this.
_exit = weakref.finalize(VTable, _at_exit)


def _make(native: Native, struct: str, name: str, function: Callable[..., Any]) -> Any:
    typed = bindings().prototype(struct, name, implemented=True)
    # The struct comes as its address: that is what it is looked up by.
    plain = bindings().stdcall(typed._restype_, ctypes.c_void_p, *typed._argtypes_[1:])
    returns = bindings().slots(struct)[name][1].returns
    if returns == "OrtStatus*":
        from_exception = native.statuses.from_exception

        def call(this: int | None, *args: Any) -> Any:
            if _ending and threading.get_ident() != _main:
                _park()
            _inside.append(None)
            try:
                function(_target(struct, this), *args)
            except BaseException as error:
                return from_exception(error)
            finally:
                _inside.pop()
            return None
    else:
        harmless = {"const char*": ctypes.addressof(_NOTHING), "void": None}.get(returns, 0)

        def call(this: int | None, *args: Any) -> Any:
            if _ending and threading.get_ident() != _main:
                _park()
            _inside.append(None)
            try:
                return function(_target(struct, this), *args)
            except BaseException as error:
                with contextlib.suppress(BaseException):
                    _log.error("%s::%s failed", struct, name, exc_info=error)
                return harmless
            finally:
                _inside.pop()

    return ctypes.cast(plain(call), typed)
