"""The two crossings between OrtStatus and Python's exceptions: one place for each direction."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from typing import Any

from .. import raw
from ..errors import OrtError
from ..locks import new_lock

__all__ = ["Statuses", "address", "describe"]

_FALLBACK = "an exception that cannot be shown"
_MOST = 1500  # bytes of a message; ORT cuts it at 2048, or in newer libraries 4096, what it puts around it included


class _Thread(threading.local):
    """How many calls into C this thread is in, one inside the other."""

    depth = 0


class Statuses:
    """OrtStatus of one loaded library.

    A Python callback that fails hands ORT a status and leaves the exception here; when the C call around it reports
    the failure, the exception becomes the OrtError's ``__cause__``. ORT may run the callback on a thread of its own
    and wrap the text, so the two are matched by that text. What no report came for is forgotten when the outermost call
    of its thread is over: an exception holds on to the frames it went through, and to all that they refer to.

    Args:
        table: the library's functions.
        foreign: does somebody else call the library? Then an exception is kept only while a call of ours is going on.
    """

    def __init__(self, table: Any, *, foreign: bool = False) -> None:
        self._foreign = foreign
        self._get_code = table.GetErrorCode
        self._get_message = table.GetErrorMessage
        self._release = table.ReleaseStatus
        self._create = table.CreateStatus
        self._lock = new_lock()
        self._pending: deque[tuple[str, BaseException, int]] = deque(maxlen=16)
        self._thread = _Thread()

    def call(self, function: Any, args: tuple[Any, ...]) -> Any:
        """Call a C function that gives an OrtStatus; callbacks may come within."""
        thread = self._thread
        thread.depth += 1
        try:
            return function(*args)
        finally:
            thread.depth -= 1

    def settle(self) -> None:
        """A call is over, and its failure was raised if it had one."""
        if self._pending and not self._thread.depth:
            with self._lock:
                me = threading.get_ident()
                kept = [entry for entry in self._pending if entry[2] != me]
                self._pending.clear()
                self._pending.extend(kept)

    def error(self, status: Any, function: str) -> OrtError:
        """Take an OrtStatus that is not NULL: read it, release it, and give the exception to raise."""
        code = self._get_code(status)
        message = (self._get_message(status) or b"").decode("utf-8", "replace")
        self._release(status)
        error = OrtError(_code(code), message, function)
        error.__cause__ = self.take(message)
        return error

    def error_at(self, status: int, function: str) -> OrtError:
        """The same for a status whose address is known."""
        return self.error(ctypes.cast(status, ctypes.POINTER(raw.OrtStatus)), function)

    def from_exception(self, error: BaseException) -> int | None:
        """An OrtStatus for an exception, as the address that a callback returns. Never raises."""
        code = error.code if isinstance(error, OrtError) and isinstance(error.code, int) else 0
        shown = error.message if isinstance(error, OrtError) else describe(error)
        data = shown.encode("utf-8", "replace").replace(b"\0", b"?")
        text = data[:_MOST].decode("utf-8", "ignore") + ("…" if len(data) > _MOST else "")  # as it comes back
        if self._thread.depth or not self._foreign:
            with self._lock:
                self._pending.append((text, error, threading.get_ident()))
        status = self._create(code or int(raw.OrtErrorCode.ORT_FAIL), text.encode())
        return address(status)

    def take(self, message: str) -> BaseException | None:
        """The exception behind a failure that was reported with this text; None where it was none of Python's."""
        with self._lock:
            # The longest: the text of one failure may be the beginning of another's. Of equal ones the newest.
            found = [(len(text), i) for i, (text, *_) in enumerate(self._pending) if text and text in message]
            if not found:
                return None
            index = max(found)[1]
            error = self._pending[index][1]
            del self._pending[index]
            return error


def describe(error: BaseException) -> str:
    """``Type: message``, whatever the exception's own ``__str__`` does."""
    try:
        text = str(error)
    except BaseException:
        text = _FALLBACK
    name = type(error).__name__
    return f"{name}: {text}" if text else name


def address(pointer: Any) -> int | None:
    """The address in a typed pointer; None for NULL."""
    return ctypes.cast(pointer, ctypes.c_void_p).value if pointer else None


def _code(value: int) -> int:
    try:
        return raw.OrtErrorCode(value)
    except ValueError:
        return value
