"""Execution providers written in Python: subclass `Ep`, and register the class with `Runtime.register_ep`.

`mul.MulEp` is an example that does real work.
"""

from __future__ import annotations

from ..api.device import HardwareDevice
from ..support import CacheSupport
from .cache import EpCache
from .context import EpContext, RunInfo
from .counters import CacheCounters, Lookup, Outcome
from .ep import DeviceOffer, Ep, Kernel
from .graph import Graph, Node, ValueInfo
from .initializers import ExternalData
from .instance import instances
from .kernel import KernelContext
from .log import EpLogger
from .mul import MulEp
from .plugin import python_plugin
from .sealed import RejectedError, fingerprint, seal, unseal

__all__ = [
    "CacheCounters",
    "CacheSupport",
    "DeviceOffer",
    "Ep",
    "EpCache",
    "EpContext",
    "EpLogger",
    "ExternalData",
    "Graph",
    "HardwareDevice",
    "Kernel",
    "KernelContext",
    "Lookup",
    "MulEp",
    "Node",
    "Outcome",
    "RejectedError",
    "RunInfo",
    "ValueInfo",
    "fingerprint",
    "instances",
    "python_plugin",
    "seal",
    "unseal",
]
