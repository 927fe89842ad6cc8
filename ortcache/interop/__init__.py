"""EP caches and execution providers from Python for the official ``onnxruntime`` module.

That module has a copy of ONNX Runtime of its own, apart from what `ortcache.load` opens. `attach` gives its
``SessionOptions`` a cache; `register_ep` and `register_ep_library` bring execution providers that use one. Sessions are
the official ``InferenceSession``, made by it or by `session`, which can be strict.
"""

from __future__ import annotations

from .answers import ep_cache_stats, ep_cache_support
from .attachment import attach
from .module import ep_cache_backend
from .registration import register_ep, register_ep_library, unregister_ep_library
from .sessions import session

__all__ = [
    "attach",
    "ep_cache_backend",
    "ep_cache_stats",
    "ep_cache_support",
    "register_ep",
    "register_ep_library",
    "session",
    "unregister_ep_library",
]
