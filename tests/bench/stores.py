"""Local stores: large values against a plain file, and small ones at the cap of a full store against a fuller one.

The plain file is written as a careful program does it: under a temporary name, flushed to the disk, renamed. What the
file system adds for a file's creation and its flush is in both sides alike.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ortcache.stores import DirectoryStore, MemoryStore
from ortcache.stores.sqlite import SqliteStore

from .measure import Row, alternate, calls

__all__ = ["rows"]

_SIZE = 16 << 20
_SMALL = 100  # bytes
_FEW, _MANY = 1_000, 100_000
_TURNS = 2_000


def rows() -> list[Row]:
    found = []
    with tempfile.TemporaryDirectory(prefix="ortcache-bench-") as folder:
        for name, store in _stores(Path(folder), max_size=None):
            found += _large(name, store, Path(folder) / "plain")
        found += [_at_the_cap(name, Path(folder)) for name in ("memory", "directory", "SQLite")]
    return found


def _stores(folder: Path, max_size: int | None) -> Iterator[tuple[str, Any]]:
    yield "memory", MemoryStore(max_size=max_size)
    yield "directory", DirectoryStore(folder / f"store-{max_size}", max_size=max_size)
    with SqliteStore(folder / f"store-{max_size}.db", max_size=max_size) as store:
        yield "SQLite", store


def _large(name: str, store: Any, plain: Path) -> list[Row]:
    value = os.urandom(_SIZE)
    view = memoryview(value)
    temporary = plain.with_suffix(".tmp")

    def write() -> None:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.write(file, view)
        os.fsync(file)
        os.close(file)
        temporary.replace(plain)

    names = (f"key{turn % 4}" for turn in itertools.count())
    return [
        _timed(f"{name}: a put of 16 MB, against a plain file", lambda: store.put(next(names), view), write, 1, 15),
        # With what is done once for several: SQLite merges what was put.
        _timed(f"{name}: 8 puts of 16 MB, mean, likewise", lambda: store.put(next(names), view), write, 8, 5),
        _timed(f"{name}: a get of 16 MB, against a plain file", lambda: store.get("key0"), plain.read_bytes, 3, 15),
    ]


def _timed(what: str, ours: Callable[[], object], theirs: Callable[[], object], times: int, rounds: int) -> Row:
    mine, others, ratio = alternate(calls(ours, times), calls(theirs, times), rounds)
    return Row(what, f"{mine * 1e3:.1f} ms", f"{others * 1e3:.1f} ms", ratio)


def _at_the_cap(name: str, folder: Path) -> Row:
    """Each turn puts some into both, so that whatever else the disk does hits both alike."""
    with contextlib.ExitStack() as opened:
        puts = []
        for number in (_MANY, _FEW):
            stores = _stores(folder, number * _SMALL)
            opened.callback(stores.close)  # type: ignore[attr-defined]
            puts.append(_filled(next(store for found, store in stores if found == name), number))
        seconds = [[_mean(put) for put in puts] for _ in range(20)]
    many, few = (statistics.mean(column) for column in zip(*seconds, strict=True))
    what = f"{name}: put of {_SMALL} bytes at a cap of {_MANY} entries, against {_FEW}"
    return Row(what, f"{many * 1e6:.0f} us", f"{few * 1e6:.0f} us", many / few)


def _filled(store: Any, number: int) -> Callable[[], None]:
    """A put of a new key into a store with so many values, the last of which filled it."""
    rng, value = random.Random(number), os.urandom(_SMALL)
    keys = (f"{rng.getrandbits(128):032x}" for _ in itertools.count())
    fsync, os.fsync = os.fsync, lambda file: None  # filling it takes minutes otherwise
    try:
        for _ in range(number + 100):
            store.put(next(keys), value)
    finally:
        os.fsync = fsync
    return lambda: store.put(next(keys), value)


def _mean(put: Callable[[], None]) -> float:
    start = time.perf_counter()
    for _ in range(_TURNS // 20):
        put()
    return (time.perf_counter() - start) / (_TURNS // 20)
