"""What execution providers and cache functions leave behind: a test compares it with what was there before it."""

from __future__ import annotations

from ortcache.ep import instances
from ortcache.ep.vtable import targets
from ortcache.errors import HostError
from ortcache.host import attach
from ortcache.host.shim import check_platform

__all__ = ["covered", "structs", "tuples"]


def structs() -> list[int]:
    """How many instances and structs C has."""
    kinds = ("OrtEp", "OrtNodeComputeInfo", "OrtEpFactory")
    return [len(instances()), *(len(targets(struct)) for struct in kinds)]


def tuples() -> int:
    """How many sets of cache functions the host holds."""
    return sum(len(proposal.entries) for proposal in attach._proposals.values())


def covered() -> bool:
    """Can execution providers be put into ONNX Runtime from Python here?"""
    try:
        check_platform()
    except HostError:
        return False
    return True
