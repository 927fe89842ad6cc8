"""The store that a command works on: how it is named, opened and shown."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import InputError
from ..stores.directory import DirectoryStore as open_store
from ..stores.masking import masked
from ..stores.protocol import Store, close_store

__all__ = ["STORE", "add_store", "opened", "shown", "store_url"]

#: Names the default store.
STORE = "ORTCACHE_STORE"


def add_store(parser: argparse.ArgumentParser, *, alone: bool = False) -> None:
    """Give a command its STORE argument.

    Args:
        alone: no positional argument follows that must be given, so it can be left out.
    """
    where = f"a folder or a URL; '-'{' or nothing' if alone else ''} stands for the one that {STORE} names"
    if alone:
        parser.add_argument("store", metavar="STORE", nargs="?", default="-", help=where)
    else:
        parser.add_argument("store", metavar="STORE", help=where)


def store_url(given: str) -> str:
    """What names the store.

    Raises:
        InputError: the default one is meant, and none is set.
    """
    if given not in ("-", ""):
        return given
    named = os.environ.get(STORE, "")
    if not named:
        raise InputError(f"no store is given: name a folder or a URL, or set {STORE}")
    return named


def shown(given: str) -> str:
    """What names the store, without what is secret in it."""
    return masked(store_url(given))


@contextlib.contextmanager
def opened(given: str, *, make: bool = False) -> Iterator[Store]:
    """The store, closed afterwards.

    Args:
        make: a local one that is not there is made. Otherwise that is an error: a mistyped name must not look like an
            empty store, nor leave a folder behind.
    """
    url = store_url(given)
    path = _local_path(url)
    if not make and path is not None and not path.exists():
        hint = f"; write '-' for the one that {STORE} names" if os.environ.get(STORE) and given != "-" else ""
        raise InputError(f"there is no store at {shown(given)}{hint}")
    store = open_store(url)
    try:
        yield store
    finally:
        close_store(store)


def _local_path(url: str) -> Path | None:
    """Where a local store is; None for one that is elsewhere."""
    scheme, mark, rest = url.partition("://")
    if not mark:
        return Path(url)
    if scheme not in ("file", "sqlite"):
        return None
    return Path(rest.partition("?")[0])
