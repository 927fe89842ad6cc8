"""What a failure of Redis means, and what to do."""

from __future__ import annotations

from ..errors import StoreError, StoreTimeoutError

__all__ = ["redis_error"]

#: Parts of a failure's text (or its kind), and what to do. The first that fits is told.
_HINTS = (
    (
        ("AuthenticationError", "NOAUTH", "WRONGPASS", "NoPermissionError", "NOPERM"),
        "Redis refuses the user or the password: name them in the URL, redis://user:password@host, and percent-encode "
        "what is special in them; or the user may not do this",
    ),
    (("ReadOnlyError", "READONLY"), "This is a replica, which takes no writes: name the primary, or open it mode=r"),
    (
        ("OutOfMemoryError", "OOM "),
        "Its memory is full: raise maxmemory, set maxmemory-policy to allkeys-lru, or give the values a ttl",
    ),
    (("BusyLoadingError", "LOADING"), "It is still loading its data: it is asked later"),
    (("MISCONF",), "It cannot save its data and takes no writes: look at its log and its disk"),
    (("max number of clients",), "It has too many clients: raise its maxclients"),
    (("WRONGTYPE",), "Somebody else keeps something under this name: use another prefix"),
    (("DB index",), "It has no database of this number"),
    (("ConnectionError",), "Is it running, and are host and port right?"),
)


def redis_error(error: Exception, what: str, timeout: float) -> StoreError:
    """A StoreError that says what failed, why, and what to do; a StoreTimeoutError where it did not answer."""
    text = f"{type(error).__name__}: {error}".rstrip(".")
    if isinstance(error, TimeoutError) or type(error).__name__ == "TimeoutError":
        return StoreTimeoutError(f"{what}: no answer in {timeout:g} s. Are host and port right, and is it overloaded?")
    hint = next((f". {hint}" for marks, hint in _HINTS if any(mark in text for mark in marks)), "")
    return StoreError(f"{what}: {text}{hint}")
