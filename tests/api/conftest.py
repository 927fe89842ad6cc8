"""What several of the wrappers' tests need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ..support.plugin import build_plugin


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A compiled plugin execution provider's library, in a folder with a space and a letter beyond ASCII."""
    return build_plugin(tmp_path_factory.mktemp("plug ïn") / "libtest_ep.so")


@pytest.fixture
def x() -> np.ndarray:
    """An input for `mul_model`."""
    return np.ones((3, 2), np.float32)
