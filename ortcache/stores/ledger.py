"""Which values a capped store holds, how large they are, and which was used least recently."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator

from ..errors import InputError
from .size import parse_size

__all__ = ["Ledger", "OnEvict", "check_fits", "parse_cap"]

#: Gets the key and the size of each value that made room for another. What it raises comes out of the put.
OnEvict = Callable[[str, int], object]


class Ledger:
    """Sizes in the order of last use. Each method takes the same time however many there are.

    Args:
        entries: key, size and time of last use (Unix time in nanoseconds) of each, in any order.

    Attributes:
        total: bytes of all.
    """

    def __init__(self, entries: Iterable[tuple[str, int, int]] = ()) -> None:
        ordered = sorted(entries, key=lambda entry: entry[2])
        self._known = OrderedDict((key, (size, used)) for key, size, used in ordered)
        self.total = sum(size for size, _ in self._known.values())

    def put(self, key: str, size: int, used: int) -> None:
        """There is one, in place of what had that key."""
        self.drop(key)
        self._known[key] = (size, used)
        self.total += size

    def use(self, key: str, used: int) -> None:
        """It was used, if it is known."""
        if key in self._known:
            self._known[key] = (self._known[key][0], used)
            self._known.move_to_end(key)

    def drop(self, key: str) -> None:
        """It is gone, if it was known."""
        self.total -= self._known.pop(key, (0, 0))[0]

    def size(self, key: str) -> int:
        """Bytes of one; 0 where it is not known."""
        return self._known.get(key, (0, 0))[0]

    def oldest(self, besides: str) -> tuple[str, int, int] | None:
        """Key, size and time of the one that was not used for longest, ``besides`` left out."""
        for key, (size, used) in self._known.items():
            if key != besides:
                return key, size, used
        return None

    def __len__(self) -> int:
        return len(self._known)

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        return iter([(key, size, used) for key, (size, used) in self._known.items()])


def parse_cap(max_size: str | int | None) -> int | None:
    """A store's ``max_size`` in bytes; None for no cap."""
    return None if max_size is None else parse_size(max_size)


def check_fits(key: str, size: int, max_size: int | None) -> None:
    """Refuse a value that would not fit into an empty store either."""
    if max_size is not None and size > max_size:
        raise InputError(
            f"the value of {key!r} has {size} bytes, and the store holds at most {max_size}: raise max_size"
        )
