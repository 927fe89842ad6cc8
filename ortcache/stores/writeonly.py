"""A store that nobody reads through this object."""

from __future__ import annotations

from ..keys import check_key
from .wrapper import Wrapper

__all__ = ["WriteOnly"]


class WriteOnly(Wrapper):
    """Stores, deletes and lists; every read is a miss, so everything is built anew and stored."""

    def get(self, key: str) -> bytes | None:
        """None, also where there is a value."""
        check_key(key)
        return None
