"""Does a store work? A value is written, read and deleted, and each step is timed."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any, TypeVar

from ..errors import InputError, OrtcacheError, StoreError, StoreTimeoutError
from ..stores.masking import masked
from ..stores.protocol import Store, close_store, layers
from ..stores.readonly import is_read_only
from ..stores.url import open_store
from ..stores.writeonly import WriteOnly
from .output import error_text

__all__ = ["StoreCheck", "check_store"]

T = TypeVar("T")

#: Bytes of the value: few, as a store at its cap makes room for it.
_VALUE_SIZE = 16

_RIGHTS = "Give this user the right to write there, or name a store elsewhere."
_ROOM = "Make room there, as with `ortcache prune`, or name a store elsewhere."
_DO = {
    errno.EACCES: _RIGHTS,
    errno.EPERM: _RIGHTS,
    errno.EROFS: "Name a store elsewhere, or only read from this one: ?mode=r in its URL.",
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
}


@dataclass
class StoreCheck:
    """How it went.

    Attributes:
        store: what names it, without what is secret.
        backend: what answers.
        read_only: it refuses to write, so it was only read from.
        seconds: what each step took, as far as it came.
        failed: the step that failed; None where all went well.
        error: why.
        do: what to do about it.
    """

    store: str
    backend: str | None = None
    read_only: bool = False
    seconds: dict[str, float] = field(default_factory=dict)
    failed: str | None = None
    error: str | None = None
    do: str | None = None

    def step(self, name: str, run: Callable[[], T]) -> T | None:
        """Run a step, unless one failed before."""
        if self.failed:
            return None
        start = time.perf_counter()
        try:
            result = run()
        except Exception as error:
            self.failed, self.error, self.do = name, error_text(error), _what_to_do(error)
            return None
        self.seconds[name] = time.perf_counter() - start
        return result

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        steps = [f"{name} {seconds * 1000:.1f} ms" for name, seconds in self.seconds.items()]
        steps += ["read-only"] if self.read_only else []
        steps += [f"{self.failed} FAILED"] if self.failed else []
        return ", ".join(steps)


def check_store(url: str, *, read_only: bool = False) -> StoreCheck:
    """Try a store out. Nothing is left in it: the key is nobody else's, and is deleted however this ends.

    Args:
        read_only: only read.
    """
    check = StoreCheck(masked(url))
    store = check.step("open", lambda: open_store(url, **({"mode": "r"} if read_only else {})))
    if store is None:
        return check
    try:
        check.backend, check.read_only = masked(repr(store)), is_read_only(store)
        key = f"ortcache-check-{os.getpid()}-{secrets.token_hex(8)}"
        if check.read_only:
            check.step("read", lambda: store.get(key))
        else:
            _write_and_read(check, store, key)
    finally:
        close_store(store)
    return check


def _write_and_read(check: StoreCheck, store: Store, key: str) -> None:
    value = secrets.token_bytes(_VALUE_SIZE)
    try:
        check.step("write", lambda: store.put(key, value))
        if not any(isinstance(layer, WriteOnly) for layer in layers(store)):
            check.step("read", lambda: _expect(store.get(key) == value, "what was written did not come back"))
        check.step("delete", lambda: _expect(store.delete(key), "what was written was not there any more"))
    finally:
        if check.failed:
            with contextlib.suppress(OrtcacheError, OSError):
                store.delete(key)


def _expect(right: bool, otherwise: str) -> bool:
    if not right:
        raise StoreError(otherwise)
    return right


def _what_to_do(error: Exception) -> str:
    if isinstance(error, InputError):
        return "Correct what names the store."
    if isinstance(error, StoreTimeoutError):
        return "Look at the network and the server, or give it more time: timeout= in the store's URL."
    if isinstance(error, OSError) and error.errno in _DO:
        return _DO[error.errno]
    if isinstance(error, OSError):
        return "Correct what names the store, or name one elsewhere."
    if "pip install" in str(error):
        return "Install it."
    return "Is the server up, and does it let this user in? Until then runs go on without a cache."
