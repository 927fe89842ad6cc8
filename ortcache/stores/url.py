"""A store from what names it: a URL with options, or a path."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..errors import InputError, StoreError
from .guarded import Guarded
from .location import Location, locate
from .namespaced import Namespaced
from .protocol import Store
from .readonly import ReadOnly
from .url_options import check_options
from .verified import Verified
from .writeonly import WriteOnly

__all__ = ["STORE_VARIABLE", "StorePlan", "open_store", "plan_store"]

#: The environment variable that names the default store.
STORE_VARIABLE = "ORTCACHE_STORE"


def open_store(where: str | os.PathLike[str] | None = None, **options: Any) -> Store:
    """The store that a URL or a path names.

    ``memory:``, ``file:///…`` or a path (a directory), ``sqlite:///relative.db``, ``sqlite:////absolute.db``,
    ``s3://bucket/prefix``, ``gs://…``, ``az://…``, ``redis://host``, ``rediss://…``, ``unix:///redis.sock``.

    What is percent-encoded is decoded; secrets show in no message. Values are sealed and checked (`Verified`), unless
    they are in this process's memory. A store that is reached over the network is not connected to here, and is left
    alone for a while after a failure (`Guarded`).

    Args:
        where: None for what the environment variable ORTCACHE_STORE names.
        options: as in the query, before which they go:

            ``mode``: ``rw``; ``r``, and it refuses to write, and one on the disk must be there; or ``w``, and every
            read is a miss.
            ``namespace``: only the entries below this prefix (`Namespaced`).
            ``verify``: 1 or 0, are values sealed and checked?
            ``mac_key_env``: the environment variable with the key of a MAC over each value, 16 to 64 bytes;
            ``mac_key``: these bytes, as an argument only.
            ``max_size``: the cap of a store in memory, in a directory or in SQLite, such as ``3.5G``;
            ``on_evict``: called with key and size of what went for it, as an argument only.
            ``timeout``: seconds in which the backend must answer: SQLite, object stores, Redis.
            ``retry_after``: seconds for which an object store or Redis is left alone after a failure.
            ``prefix``, ``ttl``, ``db``, ``ssl_…``: see `RedisStore`. ``endpoint``, ``region``, ``access_key_id`` and
            so on: see `ObjectStore`.

    Raises:
        InputError: it names no store, or an option is unknown there or malformed.
        StoreError: the library that such a store needs is not installed, or the store cannot be opened.
        OSError: likewise, for one on the disk.
    """
    return plan_store(where, **options).open()


@dataclass(frozen=True)
class StorePlan:
    """A store that is known to be named rightly, and not opened yet.

    Attributes:
        mode: "r", "rw" or "w".
        on_disk: does opening it touch a disk? Opening the others fails no more.
        open: gives the store; for one in a directory or in SQLite it may fail with what `open_store` raises.
    """

    mode: str
    on_disk: bool
    open: Callable[[], Store]


def plan_store(where: str | os.PathLike[str] | None = None, **options: Any) -> StorePlan:
    """What `open_store` does up to the point where a disk is touched.

    Raises:
        InputError: as `open_store`.
        StoreError: the library that such a store needs is not installed.
    """
    location = locate(_default() if where is None else where)
    chosen = check_options(location, options)
    mode = chosen.pop("mode", "rw")
    if location.on_disk:
        return StorePlan(mode, True, lambda: _wrapped(location, mode, dict(chosen)))
    store = _wrapped(location, mode, chosen)
    return StorePlan(mode, False, lambda: store)


def _default() -> str:
    named = os.environ.get(STORE_VARIABLE, "")
    if not named:
        raise InputError(f"no store is named: give a URL or a path, or set {STORE_VARIABLE}")
    return named


def _wrapped(location: Location, mode: str, options: dict[str, Any]) -> Store:
    namespace = options.pop("namespace", None)
    verify = options.pop("verify", location.scheme != "memory")
    mac_key = options.pop("mac_key", None)
    if mode == "r" and location.missing:
        raise StoreError(
            f"there is no store at {location.shown!r}, and mode=r makes none: is the path right, the disk mounted?"
        )
    store = _backend(location, options)
    if mode == "r":  # below what checks values: a damaged one then stays where it is
        store = ReadOnly(store)
    if verify:
        store = Verified(store, mac_key=mac_key)
    if namespace is not None:
        store = Namespaced(store, namespace)
    return WriteOnly(store) if mode == "w" else store


def _backend(location: Location, options: dict[str, Any]) -> Store:
    if location.scheme == "memory":
        from .memory import MemoryStore

        return MemoryStore(**options)
    if location.scheme == "file":
        from .directory import DirectoryStore

        return DirectoryStore(location.place, **options)
    if location.scheme == "sqlite":
        from .sqlite import SqliteStore

        return SqliteStore(location.place, **options)
    patience = {"retry_after": options.pop("retry_after")} if "retry_after" in options else {}
    if location.scheme in ("redis", "rediss", "unix"):
        from .redis import RedisStore

        return Guarded(RedisStore(location.place, **options), **patience)
    from .objects import ObjectStore

    return Guarded(ObjectStore(location.place, **options), **patience)
