"""ONNX Runtime's C API from Python, and execution-provider caches that need no file system.

``load`` finds the library and gives a `Runtime`; ``raw`` holds the C declarations. Importing this package loads
neither ONNX Runtime nor numpy.
"""

from __future__ import annotations

import importlib

__version__ = "0.1.0"

#: Public name to the module that has it. ``__init__.pyi`` gives their types.
_PUBLIC = {
    "CacheCallbacks": "epcache",
    "CacheSupport": "support",
    "ClosedError": "errors",
    "DirectoryStore": "stores.directory",
    "EpCacheError": "errors",
    "EpCacheStats": "epcache",
    "EpDevice": "api.device",
    "HostError": "errors",
    "InputError": "errors",
    "LibraryError": "errors",
    "LibraryNotFoundError": "errors",
    "LibraryVersionError": "errors",
    "MemoryStore": "stores.memory",
    "NotOnnxRuntimeError": "errors",
    "OrtError": "errors",
    "OrtcacheError": "errors",
    "ProposedFunctionError": "errors",
    "RunOptions": "api.run_options",
    "Runtime": "runtime",
    "Session": "session",
    "SessionOptions": "options",
    "UnsupportedFunctionError": "errors",
    "Value": "api.value",
    "load": "runtime",
}

#: Subpackages that are imported when they are asked for.
_PACKAGES = ("ep", "raw", "stores")

__all__ = ["__version__", *_PACKAGES, *sorted(_PUBLIC)]  # pyright: ignore


def __getattr__(name: str) -> object:
    if name in _PACKAGES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
