"""A runtime that the host stands behind, for all tests of execution providers."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from ortcache.runtime import Runtime, load

from ..support.ep_left import covered, structs, tuples
from ..support.oracles import need


@pytest.fixture(scope="session")
def rt(library: Path) -> Iterator[Runtime]:
    need("linux", covered())
    with load(library) as runtime:
        yield runtime


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Each test leaves behind no execution provider, kernel or factory, and no cache functions."""
    gc.collect()  # what other tests left
    before = structs(), tuples()
    yield
    assert structs() == before[0]
    gc.collect()
    assert tuples() == before[1]
