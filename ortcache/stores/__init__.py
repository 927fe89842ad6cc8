"""Key-value stores for what execution providers cache. A store knows nothing of ONNX Runtime.

A store has four methods, on whole values: ``get``, ``put``, ``delete``, ``keys`` (`Store`). What is stored must be
the value or nothing: never half of one.
"""

from __future__ import annotations

from ..keys import check_key
from .directory import DirectoryStore
from .memory import MemoryStore
from .protocol import Buffer, Store

__all__ = ["Buffer", "DirectoryStore", "MemoryStore", "Store", "check_key"]
