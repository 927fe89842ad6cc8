"""ORT's logger for an execution provider."""

from __future__ import annotations

import ctypes
import logging
import sys
from pathlib import Path
from typing import Any

from .. import raw
from ..core.marshal import PATH_IS_WIDE
from ..core.native import Native

__all__ = ["EpLogger"]

_log = logging.getLogger("ortcache.ep")
_Level = raw.OrtLoggingLevel
_PYTHON = [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL]


class EpLogger:
    """Writes into ORT's log, under the session's log id. It never raises.

    ORT's logger is gone before the last of an execution provider is: from the first thing that is released on, what is
    logged goes to the Python logger "ortcache.ep".

    Args:
        pointer: the OrtLogger, borrowed.
    """

    def __init__(self, native: Native, pointer: Any) -> None:
        self._native = native
        self._pointer = pointer

    @property
    def level(self) -> int:
        """The least severe OrtLoggingLevel that is logged."""
        pointer, out = self._pointer, ctypes.c_int(_Level.ORT_LOGGING_LEVEL_WARNING)
        if pointer is not None:
            self._native.api.Logger_GetLoggingSeverityLevel(pointer, ctypes.byref(out))
        return out.value

    def verbose(self, message: str, *args: object) -> None:
        """Log a message; ``args`` are put in with ``%``."""
        self._write(_Level.ORT_LOGGING_LEVEL_VERBOSE, message, args)

    def info(self, message: str, *args: object) -> None:
        """As `verbose`."""
        self._write(_Level.ORT_LOGGING_LEVEL_INFO, message, args)

    def warning(self, message: str, *args: object) -> None:
        """As `verbose`."""
        self._write(_Level.ORT_LOGGING_LEVEL_WARNING, message, args)

    def error(self, message: str, *args: object) -> None:
        """As `verbose`."""
        self._write(_Level.ORT_LOGGING_LEVEL_ERROR, message, args)

    def fatal(self, message: str, *args: object) -> None:
        """As `verbose`. It ends nothing."""
        self._write(_Level.ORT_LOGGING_LEVEL_FATAL, message, args)

    def close(self) -> None:
        """ORT's logger may be gone from now on."""
        self._pointer = None

    def _write(self, level: int, message: str, args: tuple[object, ...]) -> None:
        try:
            pointer = self._pointer
            if pointer is None:
                _log.log(_PYTHON[level], message, *args)
            elif level >= self.level:
                self._send(pointer, level, str(message) % args if args else str(message))
        except Exception as error:  # a message that cannot be made must not end a run
            _log.error("a log message of an execution provider failed: %r: %s", message, error)

    def _send(self, pointer: Any, level: int, text: str) -> None:
        frame = sys._getframe(3)  # who called `warning` and the like
        file = Path(frame.f_code.co_filename).name
        self._native.api.Logger_LogMessage(
            pointer,
            level,
            _c_text(text),
            file if PATH_IS_WIDE else file.encode("utf-8", "replace"),
            frame.f_lineno,
            _c_text(frame.f_code.co_name),
        )


def _c_text(text: str) -> bytes:
    return text.encode("utf-8", "replace").replace(b"\0", b"?")
