"""The core's tests run on the bindings alone, without what stands on them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from ortcache.api.runtime import Runtime, load


@pytest.fixture(scope="session")
def rt(library: Path) -> Iterator[Runtime]:
    """ONNX Runtime, loaded once."""
    with load(library) as runtime:
        yield runtime
