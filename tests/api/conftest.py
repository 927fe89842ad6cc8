"""What several of the wrappers' tests need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from ortcache.api.runtime import Runtime, load

from ..support.plugin import build_plugin


@pytest.fixture(scope="session")
def rt(library: Path) -> Iterator[Runtime]:
    """ONNX Runtime, loaded once: the wrappers alone, without what stands on them."""
    with load(library) as runtime:
        yield runtime


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled plugin execution provider's library, in a folder with a space and a letter beyond ASCII."""
    return build_plugin(tmp_path_factory.mktemp("plug ïn") / "libtest_ep.so")


@pytest.fixture
def x() -> np.ndarray:
    """An input for `mul_model`."""
    return np.ones((3, 2), np.float32)
