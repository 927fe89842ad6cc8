"""The optional libraries behind some stores, imported when a store wants one."""

from __future__ import annotations

from types import ModuleType

from ..errors import StoreError

__all__ = ["load_obstore", "load_redis"]


def load_obstore() -> ModuleType:
    """The obstore module.

    Raises:
        StoreError: it is not installed; the message says what to install.
    """
    try:
        import obstore.store
    except ModuleNotFoundError as error:
        raise _missing("object stores", "obstore", "objects") from error
    return obstore


def load_redis() -> ModuleType:
    """The redis module.

    Raises:
        StoreError: it is not installed; the message says what to install.
    """
    try:
        import redis
    except ModuleNotFoundError as error:
        raise _missing("Redis", "redis", "redis") from error
    return redis


def _missing(what: str, library: str, extra: str) -> StoreError:
    return StoreError(f"a store in {what} needs the {library} library: pip install 'ortcache[{extra}]'")
