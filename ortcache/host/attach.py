"""Puts the host behind a library's tables: the three functions, and a look at what makes and releases their users."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

from ..core.callbacks import status_function
from ..core.native import Native
from ..errors import HostError
from ..locks import new_lock
from ..raw._support import PROPOSED, bindings
from .proposal import Proposal
from .watch import watch

__all__ = ["MINIMUM_HOST_VERSION", "Host", "host_of", "is_native"]

#: The oldest library whose EP structs are the ones that the bindings have.
MINIMUM_HOST_VERSION = 23

_lock = new_lock()
_hosts: weakref.WeakKeyDictionary[Native, Any] = weakref.WeakKeyDictionary()
_proposals: weakref.WeakValueDictionary[int, Proposal] = weakref.WeakValueDictionary()


def is_native(native: Native) -> bool:
    """Does the library have the proposal's functions itself?"""
    slot = bindings().slots("OrtApi")["SessionOptionsSetEpCacheDataFuncs"][1]
    return slot.since != PROPOSED and native.api.raw.holds("SessionOptionsSetEpCacheDataFuncs")


class Host:
    """The host of one library.

    Attributes:
        proposal: the functions and what they remember.
    """

    def __init__(self, native: Native, proposal: Proposal) -> None:
        if native.api_version < MINIMUM_HOST_VERSION:
            raise HostError(
                f"EP cache callbacks need ONNX Runtime 1.{MINIMUM_HOST_VERSION} or later; the loaded library is "
                f"{native.description}, used with API version {native.api_version}. `pip install -U onnxruntime`"
            )
        self.native = native
        self.proposal = proposal
        self.set_functions = self._function("OrtApi", "SessionOptionsSetEpCacheDataFuncs", self.proposal.set_functions)
        self.get_support = self._function("OrtApi", "SessionGetEpCacheDataCallbackSupport", self.proposal.get_support)
        self.get_functions = self._function(
            "OrtEpApi", "SessionOptionsGetEpCacheDataFuncs", self.proposal.get_functions
        )
        watch(native, self.proposal)

    def _function(self, struct: str, name: str, function: Callable[..., None]) -> Any:
        """One of the proposal's functions as a function pointer, in the library's table from now on."""
        slots = bindings()
        pointer = status_function(self.native, slots.prototype(struct, name, implemented=True), function)
        callable_one = ctypes.cast(pointer, slots.prototype(struct, name))
        self.native.table(struct).raw.replace(name, callable_one)
        return pointer


def host_of(native: Native) -> Host:
    """The host of a library, attached when it is first asked for: before anything is made from the library.

    Raises:
        HostError: the library is too old.
    """
    with _lock:
        if native not in _hosts:
            # Two `Native`s over one library, of different API versions, see the same options and sessions.
            proposal = _proposals.get(native.base) or Proposal(native)
            _proposals[native.base] = proposal
            _hosts[native] = Host(native, proposal)
        host: Host = _hosts[native]
    return host
