"""Execution providers, stores and C functions that misbehave, for tests of EP cache callbacks."""

from __future__ import annotations

import ctypes
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from ortcache import raw
from ortcache.cli.sample import mul_model
from ortcache.ep import CacheSupport, Ep, KernelContext, MulEp, instances
from ortcache.ep.sealed import OVERHEAD
from ortcache.runtime import Runtime
from ortcache.session import Session

from .ep_classes import PlainMul

__all__ = [
    "BOTH",
    "EXPECTED",
    "FEEDS",
    "MODEL",
    "NAME",
    "OVERHEAD",
    "CFunctions",
    "LazyEp",
    "Recorder",
    "cached_session",
    "outcomes",
    "warnings_of",
]

NAME = MulEp.name
BOTH = CacheSupport.READ | CacheSupport.WRITE
MODEL = mul_model()  # one Mul
FEEDS = {"X": np.arange(6, dtype=np.float32).reshape(3, 2) - 2}
EXPECTED = FEEDS["X"] * np.arange(1, 7, dtype=np.float32).reshape(3, 2)


class Recorder:
    """A cache of two functions that remembers every call.

    Args:
        fails: raised by every call, where it is given.
    """

    def __init__(self, values: Mapping[str, bytes] | None = None, fails: BaseException | None = None) -> None:
        self.values = dict(values or {})
        self.fails = fails
        self.calls: list[tuple[str, str]] = []

    def get(self, key: str) -> bytes | None:
        self.calls.append(("read", key))
        if self.fails:
            raise self.fails
        return self.values.get(key)

    def put(self, key: str, value: memoryview) -> None:
        self.calls.append(("write", key))
        if self.fails:
            raise self.fails
        self.values[key] = bytes(value)

    @property
    def kinds(self) -> str:
        """ "rw" for a read and then a write."""
        return "".join(what[0] for what, _ in self.calls)


class LazyEp(PlainMul):
    """Reads and writes while it runs, not while it compiles: the key "lazy"."""

    name = "LazyEp"
    cache_support = BOTH

    def compile(self, graph: Any, node: Any) -> Any:
        def compute(context: KernelContext) -> None:
            left, right = context.inputs
            np.multiply(left, right, out=context.output(0, left.shape))
            self.context.cache.get("lazy")
            self.context.cache.put("lazy", b"value")

        return compute


@contextmanager
def cached_session(
    rt: Runtime, devices: Any, cache: Any = None, model: Any = MODEL, ep_options: Any = None, **how: Any
) -> Iterator[Session]:
    """A session of these devices; ``how`` goes to `set_ep_cache`."""
    with rt.session_options(intra_op_num_threads=1) as options:
        if cache is not None or how:
            options.set_ep_cache(cache, **how)
        options.append_ep(devices, ep_options)
        session = rt.session(model, options)
    with session:
        yield session


def outcomes(ep: type[Ep] = MulEp) -> dict[str, int]:
    """What the one EP of the class that is alive counted."""
    (found,) = instances(ep)
    return dict(found.outcomes)  # type: ignore[attr-defined]


def warnings_of(records: list[logging.LogRecord]) -> list[str]:
    """What ORT logged of the EP cache."""
    return [r.getMessage() for r in records if r.name == "onnxruntime" and "EP cache:" in r.getMessage()]


class CFunctions:
    """Two C functions that are not ours: their answers are C's, well-formed or not.

    Args:
        read: gets (allocator, key); gives (address, size), or a status's address.
        write: gets (key, value); gives a status's address or None.
    """

    def __init__(
        self,
        read: Callable[[Any, bytes], tuple[int | None, int] | int] | None = None,
        write: Callable[[bytes, bytes], int | None] | None = None,
    ) -> None:
        self.states: list[int | None] = []
        self._read, self._write = read, write
        self.read = raw.OrtReadNamedBufferFunc(self._on_read) if read else None
        self.write = raw.OrtWriteNamedBufferFunc(self._on_write) if write else None

    def set_on(self, options: Any, state: int | None = 7) -> None:
        options.native.api.SessionOptionsSetEpCacheDataFuncs(options, self.read, self.write, state)

    def _on_read(self, state: int | None, key: bytes, allocator: Any, buffer: Any, size: Any) -> int | None:
        assert self._read is not None
        self.states.append(state)
        answer = self._read(allocator, key)
        if isinstance(answer, int):
            return answer
        buffer[0], size[0] = answer
        return None

    def _on_write(self, state: int | None, key: bytes, value: int, size: int) -> int | None:
        assert self._write is not None
        self.states.append(state)
        return self._write(key, ctypes.string_at(value, size))
