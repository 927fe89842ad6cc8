"""The right entry or a miss: all that a cached value depends on, named, and hashed into a store's namespace."""

from __future__ import annotations

from .explain import Difference, Explanation
from .model import model_digest
from .records import ScopeRecord, delete_scope, scopes
from .scope import Scope, ScopedStore

__all__ = [
    "Difference",
    "Explanation",
    "Scope",
    "ScopeRecord",
    "ScopedStore",
    "delete_scope",
    "model_digest",
    "scopes",
]
