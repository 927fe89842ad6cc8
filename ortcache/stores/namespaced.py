"""A part of a store, with keys of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from ..errors import InputError
from ..keys import MAX_LENGTH, check_key, key_problem
from .framing import frame, label_size, unframe
from .protocol import Buffer, Entry, Store, get_view, list_entries
from .wrapper import Wrapper

__all__ = ["MAX_PREFIX", "Namespaced"]

#: Characters of the longest prefix: a key that is stored as its hash must fit behind it.
MAX_PREFIX = 100


class Namespaced(Wrapper):
    """The entries below a prefix, and no others.

    An entry is stored under the prefix, a dot, and its key. Where that would be longer than a key may be, it is stored
    under the key's hash, with the key in front of the value: listing reads those values.

    Namespaces with different prefixes never share an entry. A namespace over a namespace is a part of it: its entries
    are listed there, with its prefix in their keys.

    Args:
        inner: the store below.
        prefix: 1 to 100 letters, digits, ``_`` and ``-``. No dot: the first dot ends the prefix.

    Raises:
        InputError: it is no such prefix.
    """

    def __init__(self, inner: Store, prefix: str) -> None:
        super().__init__(inner)
        problem = key_problem(prefix) or key_problem(f"{prefix[:MAX_PREFIX]}.x")
        if not problem and "." in prefix:
            problem = "a dot ends it"
        if not problem and len(prefix) > MAX_PREFIX:
            problem = f"it has {len(prefix)} characters; 1 to {MAX_PREFIX} are allowed"
        if problem:
            raise InputError(f"{prefix!r} cannot be the prefix of a namespace: {problem}")
        self.prefix = prefix
        self._start = f"{prefix}."
        self._hashed = f"{prefix}.."  # no key starts with a dot

    def get(self, key: str) -> bytes | None:
        stored = self._stored(key)
        data = self.inner.get(stored)
        if data is None or not stored.startswith(self._hashed):
            return data
        found = unframe(data)
        return found[1] if found and found[0] == key else None

    def get_view(self, key: str) -> memoryview | None:
        """The value without a copy, where the store below gives it so."""
        if self._stored(key).startswith(self._hashed):
            value = self.get(key)
            return None if value is None else memoryview(value)
        return get_view(self.inner, self._stored(key))

    def put(self, key: str, value: Buffer) -> None:
        stored = self._stored(key)
        self.inner.put(stored, frame(key, value) if stored.startswith(self._hashed) else value)

    def delete(self, key: str) -> bool:
        return self.inner.delete(self._stored(key))

    def keys(self) -> Iterator[str]:
        for stored in self.inner.keys():  # noqa: SIM118 - a store is no mapping
            key = self._key(stored)
            if key is not None:
                yield key

    def entries(self) -> Iterator[Entry]:
        for entry in list_entries(self.inner):
            key = self._key(entry.key)
            if key is not None:
                added = label_size(key) if entry.key.startswith(self._hashed) else 0
                yield Entry(key, entry.size - added, entry.used)

    def __repr__(self) -> str:
        return f"Namespaced({self.inner!r}, {self.prefix!r})"

    def _stored(self, key: str) -> str:
        stored = self._start + check_key(key)
        return stored if len(stored) <= MAX_LENGTH else self._hashed + hashlib.sha256(key.encode()).hexdigest()

    def _key(self, stored: str) -> str | None:
        """The key of what is stored under that one; None where it is not this namespace's."""
        if not stored.startswith(self._start):
            return None
        if not stored.startswith(self._hashed):
            key = stored[len(self._start) :]
            return key if key_problem(key) is None else None  # a name of Windows' alone, which was put from below
        data = self.inner.get(stored)
        found = unframe(data) if data is not None else None
        return found[0] if found and key_problem(found[0]) is None and self._stored(found[0]) == stored else None
