"""Compiled plugins for the official module."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..native.build import build_plugin
from ..support.official import NAMED_FUNCTIONS, api_version


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plugin that keeps a plan through the callbacks, and writes a second value when its session is released."""
    if api_version() < NAMED_FUNCTIONS:
        pytest.skip("this ONNX Runtime finds no function by name: 1.28 and later do")
    folder = tmp_path_factory.mktemp("compiled")
    return build_plugin(folder, callbacks=True, ask=min(api_version(), 29), write_at_end=True)


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A plugin that knows nothing of callbacks."""
    return build_plugin(tmp_path_factory.mktemp("plain"), callbacks=False, ask=23)
