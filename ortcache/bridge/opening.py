"""From what a user gives to a directory."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping

from ..epcache import caches_disabled
from ..errors import InputError, StoreError
from ..keys import check_key
from ..scope import Scope
from ..stores.protocol import Store, close_store
from ..stores.readonly import is_read_only
from ..stores.size import parse_size
from ..warn import warn_user
from .bridged import BridgedDirectory
from .entry import StoredDirectory
from .places import check_root

__all__ = ["directory"]

_log = logging.getLogger("ortcache.bridge")

_MODES = ("rw", "r", "w")

#: Text that is a place, not a content: a path, or a model's file name.
_PATH = re.compile(r".*[/\\].*|.*\.(onnx|ort)", re.DOTALL | re.IGNORECASE)


def directory(
    store: Store | str | os.PathLike[str],
    name: str,
    *,
    scope: Scope | str | None = None,
    mode: str = "rw",
    root: str | os.PathLike[str] | None = None,
    room: int | str = "256M",
    strict: bool = False,
) -> BridgedDirectory:
    """A private directory for an execution provider that keeps its cache in one, over any store.

    It is made in memory where there is room (``/dev/shm`` or ``XDG_RUNTIME_DIR`` on Linux, where they are in memory),
    else in the temporary folder. The provider's files are restored into it from one entry of the store, and are stored
    as one value when it is closed: all of them, or none. With several processes the last one's stay. It is removed
    then, at the interpreter's exit, or after a kill by the next process that makes one.

    Close it when the provider has written its files: some write at the first run, or when the session ends. After an
    exception in its ``with`` block nothing is stored. While it is stored it is in memory once more.

    A failure of the store or the disk is logged and counted, and the provider builds as without a cache.
    ``ORTCACHE_DISABLE=1`` gives an empty directory: nothing is read, nothing stored.

    Args:
        store: a store, or what `open_store` takes to open one, which is closed with the directory.
        name: of the entry in the store and the scope, such as the provider's. A safe key of at most 190 characters.
        scope: what the files depend on: a `Scope` with the model, the versions and the device; or text that stands for
            those. Without it, all that uses this name shares the entry, whatever its model.
        mode: ``"rw"``, which is ``"r"`` over a read-only store; ``"r"`` to store nothing; ``"w"`` to restore nothing.
        root: the folder to make the directory in. Name one where the provider runs what it keeps: a folder in memory is
            often mounted so that nothing in it can be.
        room: bytes that must be free in memory, besides twice what is restored. See `ortcache.stores.size.parse_size`.
        strict: raise what fails.

    Raises:
        InputError: an argument is not as it must be.

    Warns:
        RuntimeWarning: the entry would be found by a path or a name alone; the provider wrote nothing, though nothing
            was restored; its file names change from run to run, so that it never finds its own files; a file of it
            cannot be stored; the directory could not be made, or not be removed.
    """
    if mode not in _MODES:
        raise InputError(f"the mode of a directory is one of {', '.join(_MODES)}, not {mode!r}")
    size = parse_size(room)
    place = check_root(root) if root is not None else None
    check_key(f"directory.{name}")
    parts = _scope(scope, name)
    opened: Store | None = None
    base: Store | None
    if isinstance(store, str | os.PathLike):
        base = opened = None if caches_disabled() else _open(store, strict)
    elif isinstance(store, Store):
        base = store
    else:
        raise InputError(f"a directory is restored from a store, or from what open_store takes, not {store!r}")
    try:
        if "w" in mode and is_read_only(base):
            if mode == "w":
                raise InputError("the store is read-only: a directory that is only written to is of no use over it")
            mode = "r"
        entry = None
        if base is not None and not caches_disabled():
            entry = StoredDirectory(base, parts, name, writable="w" in mode, strict=strict)
        return BridgedDirectory(
            entry,
            mode,
            root=place,
            room=size,
            strict=strict,
            versions=parts.parts,
            release=lambda: close_store(opened),
        )
    except BaseException:
        close_store(opened)
        raise


def _scope(scope: Scope | str | None, name: str) -> Scope:
    if isinstance(scope, Scope):
        parts: Mapping[str, str] = scope.parts
        texts = [] if "model" in parts else list(parts.values())
        result = scope
    else:
        if scope is not None and (not isinstance(scope, str) or not scope):
            raise InputError(f"a scope is a Scope or text, not {scope!r}")
        texts = [scope or name]
        result = Scope({"scope": scope or name})
    paths = [text for text in texts if _PATH.fullmatch(text)]
    if scope is None or paths:
        by = f"by the path {paths[0]!r} alone" if paths else f"by the name {name!r} alone"
        warn_user(
            f"the entry would be found {by}: another model under it would get this one's files. Use "
            "scope=Scope.of(model=…), which reads the model"
        )
    return result


def _open(place: str | os.PathLike[str], strict: bool) -> Store | None:
    """The store there, or None where it fails to open."""
    from ..stores.url import open_store

    try:
        return open_store(place)
    except (StoreError, OSError) as error:
        if strict:
            raise
        _log.warning("the store cannot be opened, and the provider builds as without one: %s", error)
        return None
