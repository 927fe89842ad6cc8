"""What every part's tests stand on: the installed ONNX Runtime, and a tiny model."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

import ortcache as oc

from .support.installed import dataset, library_file
from .support.server_fixtures import bucket, redis_url, s3, shared_redis  # noqa: F401 - fixtures


def pytest_collection_finish(session: pytest.Session) -> None:
    """Thousands of tests are objects that stay: the collector, which many call, need not look at them each time."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def library() -> Path:
    """The library that the tests run on."""
    return library_file()


@pytest.fixture(scope="session")
def rt(library: Path) -> Iterator[oc.Runtime]:
    """ONNX Runtime, loaded once."""
    with oc.load(library) as runtime:
        yield runtime


@pytest.fixture(scope="session")
def mul_model() -> Path:
    """A model that multiplies its input X, float[3, 2], by a constant, to Y."""
    return dataset("mul_1.onnx")
