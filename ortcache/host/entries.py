"""Who set which cache functions: the tuples of (read, write, state), and the mark that session options carry.

ORT copies the config entries of session options into clones, sessions and model compilation. So a tuple is kept here
under a number, and the options carry that number in a config entry: what is made from them inherits it, and a tuple
that replaces it later has another number. A tuple lives as long as something that may use it holds its `Entry`.
"""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..locks import new_lock

__all__ = ["KEY_PREFIX", "Entries", "Entry"]

#: Config entry: this, then the number. A fresh key each time, since ORT warns of one that is set again.
KEY_PREFIX = "ep_cache.ortcache."


@dataclass(eq=False)
class Entry:
    """One tuple, as C has it: addresses, or None for NULL.

    Attributes:
        number: what the options carry.
        keep: Python objects that the addresses lead to.
        on_reject: told when a provider refuses a value as not its own.
        shared: was it inherited? Then it is not changed any more, since the heir must not see that.
        flags: name of each provider that was made with it, to the flags that its instances support.
    """

    number: int
    read: int | None = None
    write: int | None = None
    state: int | None = None
    keep: Any = None
    on_reject: Callable[[], None] | None = None
    shared: bool = False
    flags: dict[str, set[int]] = field(default_factory=dict)

    @property
    def key(self) -> str:
        return f"{KEY_PREFIX}{self.number}"

    def rejected(self) -> None:
        """A provider refused a value: C has no way to say so, one in this process has."""
        if self.on_reject is not None:
            self.on_reject()

    @property
    def empty(self) -> bool:
        return not self.read and not self.write


class Entries:
    """The tuples of one library, and what holds them: options, sessions, compilation options, EP instances."""

    def __init__(self) -> None:
        self._lock = new_lock()
        self._numbers = itertools.count(1)
        self._known: weakref.WeakValueDictionary[int, Entry] = weakref.WeakValueDictionary()
        self._held: dict[int, Entry] = {}  # address of a C object -> the entry it uses

    def new(self, read: int | None, write: int | None, state: int | None, keep: Any) -> Entry:
        with self._lock:
            entry = Entry(next(self._numbers), read, write, state, keep)
            self._known[entry.number] = entry
            return entry

    def find(self, keys: Any) -> Entry | None:
        """The entry that config keys name, the newest of several.

        Raises:
            LookupError: they name one that is gone.
        """
        numbers = [
            int(k[len(KEY_PREFIX) :]) for k in keys if k.startswith(KEY_PREFIX) and k[len(KEY_PREFIX) :].isdigit()
        ]
        if not numbers:
            return None
        with self._lock:
            entry = self._known.get(max(numbers))
        if entry is None:
            raise LookupError(
                f"the cache functions under {KEY_PREFIX}{max(numbers)} are gone: what set them was released"
            )
        return entry

    def at(self, number: int) -> Entry | None:
        """The entry of a number; None where it is gone."""
        with self._lock:
            return self._known.get(number)

    def hold(self, owner: int, entry: Entry) -> None:
        """A C object uses the entry from now on, instead of the one it used."""
        with self._lock:
            self._held[owner] = entry

    def inherit(self, owner: int, entry: Entry | None) -> None:
        """A C object was made from options with that entry."""
        with self._lock:
            if entry is None:
                self._held.pop(owner, None)  # an address that was used before
            else:
                entry.shared = True
                self._held[owner] = entry

    def held(self, owner: int | None) -> Entry | None:
        """What a C object uses."""
        with self._lock:
            return self._held.get(owner or 0)

    def release(self, owner: int | None) -> None:
        """A C object is gone."""
        with self._lock:
            self._held.pop(owner or 0, None)

    def __len__(self) -> int:
        """How many are alive."""
        return len(self._known)
