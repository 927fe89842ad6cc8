"""Cache keys that are safe as a file name on every system."""

from __future__ import annotations

import re

__all__ = ["MAX_KEY_LENGTH", "is_safe_key"]

MAX_KEY_LENGTH = 200

_SAFE = re.compile(rf"(?!.*\.\Z)[A-Za-z0-9_-][A-Za-z0-9._-]{{0,{MAX_KEY_LENGTH - 1}}}", re.ASCII)
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?", re.IGNORECASE)  # Windows keeps these names


def is_safe_key(key: object) -> bool:
    """Letters, digits, '.', '_' and '-', 1 to 200 of them, no dot at either end, and no device's name."""
    return isinstance(key, str) and bool(_SAFE.fullmatch(key)) and not _DEVICE.fullmatch(key)
