"""ONNX Runtime's C API from Python, and execution-provider caches that need no file system.

``load`` finds the library and gives a `Runtime`; ``raw`` holds the C declarations; ``interop`` is for the official
module. Importing this package loads neither ONNX Runtime nor numpy.
"""

from __future__ import annotations

from .lazy import lazy_names

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
    "Scope": "scope.scope",
    "Session": "session",
    "SessionOptions": "options",
    "SqliteStore": "stores.sqlite",
    "StoreError": "errors",
    "StoreTimeoutError": "errors",
    "UnsupportedFunctionError": "errors",
    "Value": "api.value",
    "load": "runtime",
    "open_store": "stores.url",
}

#: Subpackages that are imported when they are asked for.
_PACKAGES = ("bridge", "ep", "interop", "raw", "scope", "stores")

__all__ = ["__version__", *_PACKAGES, *sorted(_PUBLIC)]  # pyright: ignore

__getattr__, __dir__ = lazy_names(__name__, _PUBLIC, _PACKAGES)
