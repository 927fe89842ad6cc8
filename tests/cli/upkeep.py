"""Stores in folders, and what commands say of them."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

from ortcache.stores.url import open_store

from ..support.cli import run

__all__ = ["DAY", "VALUE", "age", "damage", "document", "fill", "keys"]

VALUE = bytes(range(256)) * 4
DAY = 86400.0


def fill(where: str, *keys: str) -> None:
    store = open_store(where)
    for key in keys:
        store.put(key, VALUE)
    store.close()  # type: ignore[attr-defined]


def keys(where: str) -> list[str]:
    store = open_store(where)
    found = sorted(store.keys())
    store.close()  # type: ignore[attr-defined]
    return found


def document(*args: str, code: int = 0, **environment: str) -> Any:
    result = run(*args, "--json", **environment)
    assert result.code == code, result
    return json.loads(result.out)


def damage(root: Path, key: str) -> None:
    value = bytearray((root / key).read_bytes())
    value[-1] ^= 1
    (root / key).write_bytes(value)


def age(root: Path, **days: float) -> None:
    for key, old in days.items():
        then = time.time() - old * DAY
        os.utime(root / key, (then, then))
