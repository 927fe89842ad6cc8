"""A runtime that the host stands behind, for all tests of execution providers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from ortcache.ep import instances
from ortcache.ep.vtable import targets
from ortcache.errors import HostError
from ortcache.host import attach
from ortcache.host.shim import check_platform
from ortcache.runtime import Runtime, load

from ..support.oracles import need


@pytest.fixture(scope="session")
def rt(library: Path) -> Iterator[Runtime]:
    need("linux", _covered())
    with load(library) as runtime:
        yield runtime


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Each test leaves behind no execution provider, kernel or factory, and no cache functions."""
    gc.collect()  # what other tests left
    before, structs = _tuples(), _structs()
    yield
    assert _structs() == structs
    gc.collect()
    assert _tuples() == before


def _structs() -> list[int]:
    """How many instances and structs C has."""
    kinds = ("OrtEp", "OrtNodeComputeInfo", "OrtEpFactory")
    return [len(instances()), *(len(targets(struct)) for struct in kinds)]


def _tuples() -> int:
    return sum(len(proposal.entries) for proposal in attach._proposals.values())


def _covered() -> bool:
    try:
        check_platform()
    except HostError:
        return False
    return True
