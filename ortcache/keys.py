"""Cache keys that are safe as a file name on every system: one rule for stores and execution providers."""

from __future__ import annotations

import re

from .errors import InputError

__all__ = ["MAX_LENGTH", "check_key", "is_reserved", "key_problem"]

MAX_LENGTH = 200

_SAFE = re.compile(rf"[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{MAX_LENGTH - 1}}}", re.ASCII)

#: Names that Windows gives to devices, whatever follows a dot.
_RESERVED = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)


def check_key(key: str) -> str:
    """Give the key back.

    Raises:
        InputError: it is not safe; the message says why.
    """
    problem = key_problem(key)
    if problem:
        raise InputError(f"the cache key {key!r} is not safe: {problem}")
    return key


def key_problem(key: object) -> str | None:
    """What is wrong with a key, or None."""
    if not isinstance(key, str):
        return f"it is {type(key).__name__}, not text"
    if not key or len(key) > MAX_LENGTH:
        return f"it has {len(key)} characters; 1 to {MAX_LENGTH} are allowed"
    if not _SAFE.fullmatch(key):
        return "only letters, digits, '.', '_' and '-' are allowed, and no dot at the start"
    if is_reserved(key):
        return "Windows reserves this name for a device"
    if key.endswith("."):
        return "Windows drops a dot at the end"
    return None


def is_reserved(name: str) -> bool:
    """Does Windows give this file name to a device?"""
    return _RESERVED.fullmatch(name) is not None
