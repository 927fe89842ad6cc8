"""Entries of a store as commands choose and show them."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from ..keys import check_key
from ..stores.protocol import Entry, Store, list_entries
from .units import moment

__all__ = ["count", "document", "every_entry", "is_pattern", "match"]


def is_pattern(text: str) -> bool:
    """Is it a pattern, and no key? No key has such a character."""
    return any(letter in text for letter in "*?[")


def every_entry(store: Store) -> list[Entry]:
    """All entries, by key."""
    return sorted(list_entries(store), key=lambda entry: entry.key)


def match(keys: Iterable[str], wanted: Iterable[str]) -> tuple[list[str], list[str]]:
    """The keys that are wanted, in their order, and what of it there is none for.

    Args:
        wanted: keys and patterns.

    Raises:
        InputError: one is neither a pattern nor a safe key.
    """
    known = list(keys)
    chosen: set[str] = set()
    missing = []
    for text in wanted:
        if is_pattern(text):
            found = [key for key in known if fnmatch.fnmatchcase(key, text)]
        else:
            found = [text] if check_key(text) in known else []
        chosen.update(found)
        if not found:
            missing.append(text)
    return [key for key in known if key in chosen], missing


def count(number: int) -> str:
    """ "1 entry", "2 entries"."""
    return f"{number} {'entry' if number == 1 else 'entries'}"


def document(entry: Entry) -> dict[str, Any]:
    """An entry for ``--json``: its time as Unix time, and for people."""
    return {**asdict(entry), "used_at": None if entry.used is None else moment(entry.used)}
