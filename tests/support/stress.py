"""A pytest plugin (``pytest -p tests.support.stress``): the garbage is collected after every test, and what a module's
tests made of C objects must be gone when the module is done.

It counts by the log of ``ortcache.lifetime``. Environments are left out: ORT keeps one for the whole process.
"""

from __future__ import annotations

import gc
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

__all__ = ["Alive", "pytest_configure", "pytest_runtest_teardown"]


class Alive(logging.Filter):
    """How many C objects of each kind are there. A logger's filter sees each line once, before anybody keeps it.

    Args:
        hide: let nobody else see the lines: pytest keeps them all, which looks like a leak.
    """

    def __init__(self, *, hide: bool = False) -> None:
        super().__init__()
        self.hide = hide
        self.counts: Counter[str] = Counter()

    def filter(self, record: logging.LogRecord) -> bool:
        kind = str(record.args[0]) if record.args else ""  # type: ignore[index]
        self.counts[kind] += {"created": 1, "released": -1}[record.msg.split()[0]]
        return not self.hide

    def left(self) -> dict[str, int]:
        gc.collect()
        return {kind: count for kind, count in self.counts.items() if count and kind != "Environment"}


_alive = Alive()


def pytest_configure() -> None:
    logger = logging.getLogger("ortcache.lifetime")
    logger.setLevel(logging.DEBUG)
    logger.addFilter(_alive)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[Any]:
    result = yield
    left = _alive.left()
    if nextitem is None or nextitem.path != item.path:  # before that, fixtures of the module may hold some
        _alive.counts.clear()
        assert not left, f"C objects left behind by {item.path.name}: {left}"
    return result
