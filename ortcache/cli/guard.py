"""Before many files are removed: is the folder a store at all? Any folder with ordinary names looks like one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable

from ..errors import InputError
from ..stores.directory import DirectoryStore
from ..stores.filenames import file_name
from ..stores.namespaced import Namespaced
from ..stores.protocol import Store, layers
from ..stores.seal import is_sealed
from ..stores.verified import Verified

__all__ = ["check_is_store"]


def check_is_store(store: Store, keys: Iterable[str]) -> None:
    """Is one of a folder's entries sealed, as those of a store are? Other stores than folders pass.

    Args:
        keys: those that may be removed.

    Raises:
        InputError: there are some, and none is.
    """
    below = list(layers(store))
    directory = next((layer for layer in below if isinstance(layer, DirectoryStore)), None)
    checked = any(isinstance(layer, Verified) for layer in below)
    if directory is None or not checked or any(isinstance(layer, Namespaced) for layer in below):
        return
    seen = None
    for key in keys:
        seen = key
        with contextlib.suppress(OSError), (directory.root / file_name(key)).open("rb") as file:
            if is_sealed(file.read(8)):
                return
    if seen is not None:
        raise InputError(
            f"nothing is removed, as {directory.root} seems to be no store: none of its files is a sealed value, such "
            f"as {seen}. For a store of values without seals, name it as file://…?verify=0"
        )
