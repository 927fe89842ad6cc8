"""Which execution providers a session has: ONNX Runtime may go on without one that it was asked for."""

from __future__ import annotations

import sys
from typing import Any

from ..errors import EpCacheError, InputError

__all__ = ["check_provider"]


def check_provider(session: Any, ep: str) -> None:
    """Does the session have the provider? Takes the official module's sessions and those of this package.

    Raises:
        EpCacheError: it has not.
        InputError: that is no session.
    """
    names = _providers(session)
    if ep not in names:
        raise EpCacheError(
            f"{ep} is not among the providers of the session, which are {', '.join(names) or 'none'}. "
            f"ONNX Runtime {_version(session)} went on without it: it refused an option, such as one for the cache "
            "directory that this version does not know, or could not start. Its log says which"
        )


def _providers(session: Any) -> list[str]:
    for name in ("get_providers", "ep_cache_support"):  # the official module's, this package's
        function = getattr(session, name, None)
        if callable(function):
            return list(function())
    raise InputError(f"{type(session).__name__} is no session: it does not say which providers it has")


def _version(session: Any) -> str:
    native = getattr(session, "native", None)
    if native is not None:
        return str(native.version)
    module = sys.modules.get(type(session).__module__.partition(".")[0])
    return str(getattr(module, "__version__", "(version not known)"))
