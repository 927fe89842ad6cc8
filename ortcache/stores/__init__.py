"""Key-value stores for what execution providers cache. A store knows nothing of ONNX Runtime.

A store has four methods, on whole values: ``get``, ``put``, ``delete``, ``keys`` (`Store`). What is stored must be
the value or nothing: never half of one. `open_store` gives one from a URL; the others here are the kinds of store, and
those that stand over another and change what it does.
"""

from __future__ import annotations

from ..lazy import lazy_names

#: Public name to the module that has it. ``__init__.pyi`` gives their types.
_PUBLIC = {
    "Buffer": "protocol",
    "Counted": "counted",
    "DirectoryStore": "directory",
    "Entry": "protocol",
    "Event": "events",
    "EventKind": "events",
    "Level": "tiered",
    "MemoryStore": "memory",
    "Namespaced": "namespaced",
    "ObjectStore": "objects",
    "ReadOnly": "readonly",
    "RedisStore": "redis",
    "SqliteStore": "sqlite",
    "Store": "protocol",
    "Tiered": "tiered",
    "Verified": "verified",
    "VerifyReport": "verified",
    "WriteOnly": "writeonly",
    "export_bundle": "bundle",
    "import_bundle": "bundle",
    "list_entries": "protocol",
    "open_store": "url",
    "parse_size": "size",
}

__all__ = sorted(_PUBLIC)  # pyright: ignore

__getattr__, __dir__ = lazy_names(__name__, _PUBLIC)
