"""Keys as file names: no two are mixed up by a file system that folds case."""

from __future__ import annotations

from ..keys import key_problem

__all__ = ["file_name", "key_of"]


def file_name(key: str) -> str:
    """The key in lower case, and behind a ^ which letters are not."""
    upper = sum(1 << place for place, letter in enumerate(key) if letter.isupper())
    return f"{key.lower()}^{upper:x}" if upper else key


def key_of(name: str) -> str | None:
    """The key of a file name; None where no key has that name."""
    lower, mark, places = name.partition("^")
    try:
        upper = int(places, 16) if mark else 0
    except ValueError:
        return None
    if upper:
        lower = "".join(letter.upper() if upper >> place & 1 else letter for place, letter in enumerate(lower))
    return lower if key_problem(lower) is None and file_name(lower) == name else None
