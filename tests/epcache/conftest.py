"""The tests of EP cache callbacks run on either backend: see ``tests.support.backends``."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any

import pytest

import ortcache
from ortcache.core import callbacks
from ortcache.ep import MulEp
from ortcache.host import attach
from ortcache.runtime import Runtime

from ..support.backends import open_runtime, wanted
from ..support.ep_classes import registered
from ..support.ep_left import covered, structs, tuples
from ..support.oracles import ROOT, need


@pytest.fixture(scope="session")
def rt() -> Iterator[Runtime]:
    need("linux", covered())
    with open_runtime() as runtime:
        assert runtime.ep_cache_backend == wanted()
        yield runtime


@pytest.fixture
def mul(rt: Runtime) -> Iterator[Any]:
    """The devices of MulEp."""
    with registered(rt, MulEp) as devices:
        yield devices


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """Each test leaves behind no execution provider, no token and no tuple."""
    gc.collect()  # what other tests left
    before = structs(), tuples(), len(callbacks._targets)
    yield
    gc.collect()
    assert (structs(), tuples(), len(callbacks._targets)) == before


def pytest_sessionfinish() -> None:
    """Whatever ran, it was on the backend that it was to run on."""
    native = not ortcache.__file__.startswith(str(ROOT))
    assert native == (wanted() == "native")
    assert not (native and len(attach._hosts)), "the host was attached, though the library has the functions"
