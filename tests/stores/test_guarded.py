"""A store whose backend fails is left alone for a while; what is only about writing does not stop reading."""

from __future__ import annotations

import logging
import time

import pytest

from ortcache.errors import InputError, StoreError, StoreTimeoutError
from ortcache.stores import MemoryStore
from ortcache.stores.guarded import Guarded
from ortcache.stores.writeonly import WriteOnly

from .conformance import Conformance


class Failing(MemoryStore):
    """Raises what it is told to; counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.reading: Exception | None = None
        self.writing: Exception | None = None
        self.calls = 0

    def _fail(self, error: Exception | None) -> None:
        self.calls += 1
        if error is not None:
            raise error

    def get(self, key: str) -> bytes | None:
        self._fail(self.reading)
        return super().get(key)

    def put(self, key: str, value: object) -> None:
        self._fail(self.writing)
        super().put(key, value)  # type: ignore[arg-type]


class TestGuarded(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self) -> Guarded:
        return Guarded(MemoryStore())


def test_where_reading_fails_nothing_is_asked_and_there_is_one_warning(caplog: pytest.LogCaptureFixture) -> None:
    inner = Failing()
    inner.put("key", b"x")
    store, inner.calls = Guarded(inner, retry_after=0.2), 0
    inner.reading = inner.writing = StoreTimeoutError("no answer in 0.1 s")
    for call in (lambda: store.get("key"), lambda: store.put("key", b"y"), lambda: store.delete("key"),
                 lambda: list(store.keys()), lambda: list(store.entries()), lambda: store.get("other")):  # fmt: skip
        with pytest.raises(StoreTimeoutError, match=r"no answer in 0\.1 s"):
            call()
    assert inner.calls == 1
    assert [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING] == [
        "the store failed, and is tried again in 0.2 s: no answer in 0.1 s"
    ]
    time.sleep(0.25)
    inner.reading = inner.writing = None
    assert store.get("key") == b"x"
    store.put("key", b"y")
    assert store.get("key") == b"y"


def test_where_only_writing_fails_reading_goes_on() -> None:
    inner = Failing()
    store = Guarded(inner, retry_after=60)
    store.put("key", b"x")
    inner.writing, inner.calls = StoreError("full"), 0
    for _ in range(5):
        with pytest.raises(StoreError, match="full"):
            store.put("key", b"y")
        with pytest.raises(StoreError, match="writing to the store is not tried"):
            store.delete("key")
        assert store.get("key") == b"x"
        assert list(store.keys()) == ["key"]
    assert inner.calls == 1 + 5


def test_a_wrong_argument_is_no_failure_of_the_backend() -> None:
    store = Guarded(MemoryStore(max_size=10))
    for _ in range(2):
        with pytest.raises(InputError):
            store.get("no key")
        with pytest.raises(TypeError):
            store.put("key", 3)  # type: ignore[arg-type]
        with pytest.raises(InputError):
            store.put("key", bytes(11))
    store.put("key", b"x")
    assert store.get("key") == b"x"


def test_a_write_only_store_misses_everything_and_writes() -> None:
    inner = MemoryStore()
    store = WriteOnly(inner)
    store.put("key", b"x")
    assert (store.get("key"), inner.get("key"), list(store.keys())) == (None, b"x", ["key"])
    with pytest.raises(InputError):
        store.get("no key")
    assert store.delete("key") is True
