"""The proposal's three functions, for a library that does not have them."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .. import raw
from ..core.native import Native
from ..core.status import address
from ..errors import InputError, OrtError
from .entries import KEY_PREFIX, Entries, Entry
from .sessions import EpSupport, Sessions

__all__ = ["Proposal"]

_INVALID = raw.OrtErrorCode.ORT_INVALID_ARGUMENT


class Proposal:
    """The contract, over config entries and this process's memory.

    The methods are what C calls: they get C's arguments, and raise what becomes the OrtStatus.

    Attributes:
        entries: the tuples that were set.
        sessions: which execution providers each session has, and what they support.
        on_lend: told of an entry that a compiled provider gets, where sessions are made that are not watched.
    """

    def __init__(self, native: Native) -> None:
        self.native = native
        self.entries = Entries()
        self.sessions = Sessions()
        self.on_lend: Callable[[Entry], None] | None = None

    def set_functions(
        self,
        options: Any,
        read: Any,
        write: Any,
        state: int | None,
        keep: Any = None,
        on_reject: Callable[[], None] | None = None,
    ) -> None:
        """``SessionOptionsSetEpCacheDataFuncs``: replaces the whole tuple; a NULL function clears that direction.

        Args:
            keep: Python objects that must live as long as something may call the functions.
            on_reject: told when a provider written in Python refuses a value.
        """
        owner = address(options)
        if owner is None:
            raise OrtError(_INVALID, "the session options are NULL", "SessionOptionsSetEpCacheDataFuncs")
        functions = _pointer(read), _pointer(write), state
        current = self.find(options)
        if current is not None and not current.shared:
            current.read, current.write, current.state = functions
            current.keep, current.on_reject = keep, on_reject
            return
        if current is None and functions[:2] == (None, None):
            return
        entry = self.entries.new(*functions, keep)
        entry.on_reject = on_reject
        self.native.api.AddSessionConfigEntry(options, entry.key.encode(), b"1")
        self.entries.hold(owner, entry)

    def get_functions(self, options: Any, read: Any, write: Any, state: Any) -> None:
        """``SessionOptionsGetEpCacheDataFuncs``: the tuple of the options; all NULL where none was set."""
        function = "SessionOptionsGetEpCacheDataFuncs"
        if not (options and read and write and state):
            raise OrtError(_INVALID, "an argument is NULL", function)
        try:
            entry = self.find(options)
        except LookupError as error:
            raise OrtError(_INVALID, str(error), function) from None
        values = (entry.read, entry.write, entry.state) if entry else (None, None, None)
        for out, value in zip((read, write, state), values, strict=True):
            ctypes.cast(out, ctypes.POINTER(ctypes.c_void_p))[0] = value

    def lend_functions(self, options: Any, read: Any, write: Any, state: Any) -> None:
        """The same for a compiled provider, which can hold nothing of Python's."""
        self.get_functions(options, read, write, state)
        entry = self.find(options) if self.on_lend else None
        if entry is not None and self.on_lend:
            self.on_lend(entry)

    def get_support(self, session: Any, ep_name: bytes | None, flags: Any) -> None:
        """``SessionGetEpCacheDataCallbackSupport``: what a session's EPs support; NULL for the union over them."""
        function = "SessionGetEpCacheDataCallbackSupport"
        owner = address(session)
        if owner is None or not flags:
            raise OrtError(_INVALID, "an argument is NULL", function)
        name = None if ep_name is None else ep_name.decode("utf-8", "replace")
        try:
            flags[0] = self.sessions.support(owner, name)
        except InputError as error:
            raise OrtError(_INVALID, str(error), function) from None

    def add_ep(self, ep: EpSupport, options: Any) -> None:
        """A provider was made, or says what it supports: it belongs to the session that this thread is making, and it
        uses the entry of its options.

        Raises:
            InputError: it claims bits that mean nothing.
        """
        flags = ep.checked()
        self.sessions.add(ep)
        try:
            entry = self.find(options)
        except LookupError:
            return
        if entry is not None:
            entry.flags.setdefault(ep.name, set()).add(flags)

    def find(self, options: Any) -> Entry | None:
        """The entry of session options; LookupError where it is gone."""
        out = ctypes.POINTER(raw.OrtKeyValuePairs)()
        api = self.native.api
        api.GetSessionOptionsConfigEntries(options, ctypes.byref(out))
        try:
            keys, values, count = _strings(), _strings(), ctypes.c_size_t()
            api.GetKeyValuePairs(out, ctypes.byref(keys), ctypes.byref(values), ctypes.byref(count))
            prefix = KEY_PREFIX.encode()
            names = [keys[i].decode() for i in range(count.value) if keys[i].startswith(prefix)]
        finally:
            api.ReleaseKeyValuePairs(out)
        return self.entries.find(names)


def _strings() -> Any:
    return ctypes.POINTER(ctypes.c_char_p)()


def _pointer(function: Any) -> int | None:
    """The address of a function pointer; None for NULL."""
    if function is None or isinstance(function, int):
        return function or None
    return ctypes.cast(function, ctypes.c_void_p).value
