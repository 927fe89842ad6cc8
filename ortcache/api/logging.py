"""ORT's log lines to Python's ``logging``, under the logger "onnxruntime"."""

from __future__ import annotations

import logging
from typing import Any

from .. import raw

__all__ = ["LOGGER", "log_level", "log_trampoline"]

#: Where ORT's log lines go. Each record carries ``ort_category``, ``ort_logid`` and ``ort_location``.
LOGGER = logging.getLogger("onnxruntime")

_PYTHON = [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL]

_trampoline: Any = None


def log_level(level: int | str) -> int:
    """An OrtLoggingLevel from its number (0 verbose to 4 fatal) or name ("verbose", "info", "warning", …).

    Raises:
        ValueError: no such level.
        TypeError: neither a number nor a name.
    """
    if isinstance(level, str):
        name = f"ORT_LOGGING_LEVEL_{level.upper()}"
        if name not in raw.OrtLoggingLevel.__members__:
            names = ", ".join(n.removeprefix("ORT_LOGGING_LEVEL_").lower() for n in raw.OrtLoggingLevel.__members__)
            raise ValueError(f"log level {level!r} is not one of {names}")
        return int(raw.OrtLoggingLevel[name])
    if isinstance(level, bool) or not isinstance(level, int):
        raise TypeError(f"a log level must be a number or a name, not {level!r}")
    if not 0 <= level < len(_PYTHON):
        raise ValueError(f"log level {level} is not in 0 (verbose) to {len(_PYTHON) - 1} (fatal)")
    return int(level)


def log_trampoline() -> Any:
    """The OrtLoggingFunction. It lives for ever: ORT's threads may log at any time."""
    global _trampoline
    if _trampoline is None:
        _trampoline = raw.OrtLoggingFunction(_log)
    return _trampoline


def _log(_param: int, severity: int, category: bytes, logid: bytes, location: bytes, message: bytes) -> None:
    try:
        level = _PYTHON[severity] if 0 <= severity < len(_PYTHON) else logging.CRITICAL
        if LOGGER.isEnabledFor(level):
            extra = {"ort_category": _text(category), "ort_logid": _text(logid), "ort_location": _text(location)}
            LOGGER.log(level, "%s", _text(message), extra=extra)
    except BaseException:  # nothing may go back into C, and there is nobody to tell
        pass


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
