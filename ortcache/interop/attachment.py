"""What the official module's session options have attached: the cache, and a mark by which C finds it.

The mark is a session config entry, which ONNX Runtime copies into each session that is made from the options. Each
`attach` leaves one with a fresh number and the newest counts, so sessions that were made before keep theirs.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from typing import Any

from ..backend import make_entry
from ..epcache import CacheCallbacks, choose_callbacks
from ..errors import InputError
from ..host.entries import KEY_PREFIX, Entry
from ..locks import new_lock
from ..stores.protocol import Buffer
from .module import hold_for_sessions_being_made, imported_module, official_host

__all__ = ["Attachment", "attach", "attached", "attached_to_session"]

#: Config entry with the number of the options themselves: a session has a copy of it.
_OPTIONS_KEY = f"{KEY_PREFIX}options"

_lock = new_lock()
_numbers = itertools.count(1)
_attached: weakref.WeakKeyDictionary[Any, Attachment] = weakref.WeakKeyDictionary()  # by the official SessionOptions
_by_number: weakref.WeakValueDictionary[int, Attachment] = weakref.WeakValueDictionary()


class Attachment:
    """What session options have attached; it lives as long as they do.

    Attributes:
        entry: what counts now.
        numbers: of all the entries that they ever had, in order.
    """

    def __init__(self, options: Any, entry: Entry) -> None:
        self.entry = entry
        self.numbers: list[int] = []
        number = next(_numbers)
        options.add_session_config_entry(_OPTIONS_KEY, str(number))
        _by_number[number] = self

    def replace(self, options: Any, entry: Entry) -> None:
        """Another entry counts from now on."""
        options.add_session_config_entry(entry.key, "1")
        if self.numbers:
            hold_for_sessions_being_made(options, self.entry)
        self.numbers.append(entry.number)
        self.entry = entry


def attach(
    options: Any,
    cache: Any = None,
    *,
    read: Callable[[str], Buffer | None] | None = None,
    write: Callable[[str, memoryview], object] | None = None,
    strict: bool = False,
    max_size: str | int | None = None,
) -> None:
    """Let the execution providers of official sessions keep their cache in a store, and not in the file system.

    Each call replaces both directions; without a cache it clears them. Sessions that were made before do not see it.
    What is attached lives as long as the options and the sessions made from them, and a function that refers to one of
    these keeps it alive: attach nothing to let go. What a compiled provider writes while the interpreter ends is
    dropped: delete sessions before. ``ORTCACHE_DISABLE=1`` in the environment makes this do nothing.

    Args:
        options: an ``onnxruntime.SessionOptions``.
        cache: a store (an object with ``get`` and ``put``), what names one for `ortcache.open_store` (a URL or a
            path), a mapping of key to bytes, or a `CacheCallbacks`.
        read: a function instead: gets a key, gives bytes, or None for a miss.
        write: a function instead: gets a key and a memoryview, which is valid during the call only.
        strict: refused, since the official ``InferenceSession`` cannot be: `session` takes it.
        max_size: bytes of the largest value that passes, such as ``64M``; None for any.

    Raises:
        TypeError: the options are no official ones, or the cache is none of these.
        InputError: strict, here; a URL that names no store, or a ``max_size`` that is no size.
        LibraryNotFoundError: there is no onnxruntime module.
        HostError: it is too old, or the host does not cover this platform.
    """
    if not isinstance(options, imported_module().SessionOptions):
        raise TypeError(f"attach takes an onnxruntime.SessionOptions, not {type(options).__name__}")
    if strict or (isinstance(cache, CacheCallbacks) and cache.strict):
        raise InputError(
            "onnxruntime.InferenceSession does not tell ortcache which session it makes, so options cannot be strict. "
            "Attach without strict, and make the session with ortcache.interop.session(model, options, strict=True)."
        )
    chosen = choose_callbacks(cache, read=read, write=write, max_size=max_size)
    with _lock:
        current = _attached.get(options)
        if chosen is None and current is None:
            return
        native = official_host().native
        entry = make_entry(native, chosen.buffers if chosen else None, chosen.reject if chosen else None)
        entry.keep = entry.keep, chosen
        if current is None:
            current = _attached[options] = Attachment(options, entry)
        current.replace(options, entry)


def attached(options: Any) -> Attachment | None:
    """What is attached to session options."""
    with _lock:
        return _attached.get(options)


def attached_to_session(session: Any) -> Entry | None:
    """What was attached to the options when the session was made from them, where it is still there."""
    options = session.get_session_options()  # the session's own copy
    number = _config(options, _OPTIONS_KEY)
    attachment = _by_number.get(int(number)) if number else None
    if attachment is None:
        return None
    with _lock:
        numbers = list(attachment.numbers)
    for one in reversed(numbers):
        if _config(options, f"{KEY_PREFIX}{one}"):
            return official_host().proposal.entries.at(one)
    return None


def _config(options: Any, key: str) -> str | None:
    try:
        value: str = options.get_session_config_entry(key)
    except RuntimeError:  # there is none
        return None
    return value
