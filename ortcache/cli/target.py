"""The store that a command works on: how it is named, opened and shown."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator

from ..errors import InputError
from ..stores.location import Location, locate
from ..stores.protocol import Store, close_store
from ..stores.url import STORE_VARIABLE, open_store

__all__ = ["add_store", "checked_location", "missing_store", "opened", "shown", "store_url"]


def add_store(parser: argparse.ArgumentParser, *, alone: bool = False) -> None:
    """Give a command its STORE argument.

    Args:
        alone: no positional argument follows that must be given, so it can be left out.
    """
    where = f"a folder or a URL; '-'{' or nothing' if alone else ''} stands for the one that {STORE_VARIABLE} names"
    if alone:
        parser.add_argument("store", metavar="STORE", nargs="?", default="-", help=where)
    else:
        parser.add_argument("store", metavar="STORE", help=where)


def store_url(given: str) -> str:
    """What names the store.

    Raises:
        InputError: the default one is meant, and none is set.
    """
    if given != "-":
        return given
    named = os.environ.get(STORE_VARIABLE, "")
    if not named:
        raise InputError(f"no store is given: name a folder or a URL, or set {STORE_VARIABLE}")
    return named


def shown(given: str) -> str:
    """What names the store, without what is secret in it."""
    return locate(store_url(given)).shown


def checked_location(given: str, *, make: bool = False) -> Location:
    """Where the store is.

    Args:
        make: a local one need not be there.

    Raises:
        InputError: it names none, one in memory, or one that is not there: a mistyped name must not look like an empty
            store, nor leave a folder behind.
    """
    location = locate(store_url(given))
    if location.scheme == "memory":
        raise InputError("a store in memory goes with this process: name another")
    if not make and location.missing:
        named = os.environ.get(STORE_VARIABLE) and given != "-"
        hint = f"; write '-' for the one that {STORE_VARIABLE} names" if named else ""
        raise InputError(f"there is no store at {location.shown}{hint}")
    return location


def missing_store(url: str) -> bool:
    """Is it a local store that is not there yet? False for what names none."""
    try:
        return locate(url).missing
    except InputError:
        return False


@contextlib.contextmanager
def opened(given: str, *, read_only: bool = False, make: bool = False) -> Iterator[Store]:
    """The store, closed afterwards.

    Args:
        read_only: nothing in it is changed, not even moved aside as damaged.
        make: a local one that is not there is made.
    """
    checked_location(given, make=make)
    store = open_store(store_url(given), **({"mode": "r"} if read_only else {}))
    try:
        yield store
    finally:
        close_store(store)
