"""A store whose values are checked before anybody gets them."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field

from ..errors import InputError
from ..keys import check_key
from .fork import ForkLock
from .framing import frame, unframe
from .protocol import Buffer, Entry, Store, list_entries
from .readonly import is_read_only
from .seal import SEAL_SIZE, Flaw, Seal
from .wrapper import Wrapper

__all__ = ["QUARANTINE", "Verified", "VerifyReport"]

#: What the keys of values start with that were moved aside. No entry may have such a key.
QUARANTINE = "quarantine."

#: How many values are kept aside, so that a bad disk does not fill up with them.
_SLOTS = 8

#: Log lines of one store; what is found after those is only counted.
_LOGGED = 20

_log = logging.getLogger("ortcache.stores")


@dataclass
class VerifyReport:
    """What `Verified.verify` found.

    Attributes:
        whole: how many entries are as they were stored.
        size: bytes of their values.
        damaged: key and reason of each that is damaged.
        foreign: key and reason of each that is not of this store's seal.
    """

    whole: int = 0
    size: int = 0
    damaged: dict[str, str] = field(default_factory=dict)
    foreign: dict[str, str] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Is there nothing damaged and nothing foreign?"""
        return not self.damaged and not self.foreign


class Verified(Wrapper):
    """Seals each value with its length and a checksum, and opens no other.

    A damaged value (cut, changed, empty, too long) is a miss, and so is a foreign one: not sealed, sealed with another
    MAC key or format version, or copied from another entry. It is moved aside, to one of eight places whose keys start
    with ``quarantine.``; where the store below is read-only it stays.

    Args:
        inner: the store below.
        mac_key: 16 to 64 secret bytes. A checksum finds accidents; with a key, a value that was put there by somebody
            without it is foreign too.

    Raises:
        InputError: the key is no such key; later, an entry's key starts with ``quarantine.``.
    """

    def __init__(self, inner: Store, *, mac_key: bytes | None = None) -> None:
        super().__init__(inner)
        self._seal = Seal(mac_key)
        self._lock = ForkLock()
        self._damaged = 0
        self._foreign = 0

    @property
    def damaged(self) -> int:
        """How many values `get` found damaged."""
        return self._damaged

    @property
    def foreign(self) -> int:
        """How many values `get` found that are not of this store's seal."""
        return self._foreign

    def get(self, key: str) -> bytes | None:
        view = self.get_view(key)
        return None if view is None else bytes(view)

    def get_view(self, key: str) -> memoryview | None:
        """The value without the copy that `get` makes to be rid of the seal."""
        data = self.inner.get(_entry_key(key))
        if data is None:
            return None
        value = self._seal.open(key, data)
        if isinstance(value, Flaw):
            self._found(key, data, value)
            return None
        return value

    def put(self, key: str, value: Buffer) -> None:
        self.inner.put(key, self._seal.close(_entry_key(key), value))

    def delete(self, key: str) -> bool:
        return self.inner.delete(_entry_key(key))

    def keys(self) -> Iterator[str]:
        return (key for key in self.inner.keys() if not key.startswith(QUARANTINE))  # noqa: SIM118 - no mapping

    def entries(self) -> Iterator[Entry]:
        for entry in list_entries(self.inner):
            if not entry.key.startswith(QUARANTINE):
                yield Entry(entry.key, max(0, entry.size - SEAL_SIZE), entry.used)

    def verify(self, *, move: bool = False) -> VerifyReport:
        """Read and check every entry. Counts and logs nothing.

        Args:
            move: move aside what is not whole.
        """
        report = VerifyReport()
        for key in self.keys():
            data = self.inner.get(key)
            if data is None:
                continue
            value = self._seal.open(key, data)
            if isinstance(value, Flaw):
                (report.foreign if value.foreign else report.damaged)[key] = value.reason
                if move:
                    self._move(key, data)
            else:
                report.whole += 1
                report.size += len(value)
        return report

    def quarantine(self, key: str) -> bool:
        """Move an entry aside that is whole but of no use; was there one?"""
        data = self.inner.get(_entry_key(key))
        if data is not None:
            self._move(key, data)
        return data is not None

    def quarantined(self) -> dict[str, int]:
        """The entries' keys of the values that are kept aside, with the bytes of each as it was stored."""
        found = {}
        for slot in range(_SLOTS):
            data = self.inner.get(f"{QUARANTINE}{slot}")
            parts = unframe(data) if data is not None else None
            if parts:
                found[parts[0]] = len(parts[1])
        return found

    def _found(self, key: str, data: bytes, flaw: Flaw) -> None:
        with self._lock:
            if flaw.foreign:
                self._foreign += 1
            else:
                self._damaged += 1
            number = self._damaged + self._foreign
        what = "foreign" if flaw.foreign else "damaged"
        done = "it stays, the store is read-only"
        if not is_read_only(self.inner):
            try:
                done = self._move(key, data)
            except Exception as error:  # it is a miss all the same
                done = f"it could not be moved aside: {type(error).__name__}: {error}"
        if number <= _LOGGED:
            last = "; further ones are only counted" if number == _LOGGED else ""
            _log.warning("the entry %r is %s (%s); %s%s", key, what, flaw.reason, done, last)

    def _move(self, key: str, data: bytes) -> str:
        """Delete the entry, unless somebody has replaced it meanwhile, and put the data aside."""
        if self.inner.get(key) == data:
            self.inner.delete(key)  # first: at a cap, good entries would make room for a second copy
        slot = f"{QUARANTINE}{hashlib.sha256(key.encode()).digest()[0] % _SLOTS}"
        try:
            self.inner.put(slot, frame(key, data))
        except Exception as error:  # a full store, or a cap
            return f"deleted, as it could not be kept: {type(error).__name__}: {error}"
        return f"moved to {slot}"


def _entry_key(key: str) -> str:
    if check_key(key).startswith(QUARANTINE):
        raise InputError(f"{key!r} cannot be an entry's key: {QUARANTINE!r} is where damaged entries are moved to")
    return key
