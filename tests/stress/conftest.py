"""What the stress tests count with."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..support.oracles import need
from ..support.stress import Alive


@pytest.fixture
def alive() -> Iterator[Alive]:
    need("linux", Path("/proc/self/statm").exists())
    logger, counter = logging.getLogger("ortcache.lifetime"), Alive(hide=True)
    before = logger.level
    logger.setLevel(logging.DEBUG)
    logger.addFilter(counter)
    yield counter
    logger.removeFilter(counter)
    logger.setLevel(before)
