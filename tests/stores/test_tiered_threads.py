"""Several stores in order, and threads that read and write them."""

from __future__ import annotations

import sys
import threading
import time

import pytest

from ortcache.stores import MemoryStore
from ortcache.stores.tiered import Level, Tiered

from ..support.oracles import need
from ..support.process import run_python
from .conformance import run_together
from .contents import contents
from .faulty import Hanging


@pytest.mark.parametrize("write", ["put", "delete"])
def test_what_was_written_while_a_value_was_read_from_below_is_not_undone(write: str) -> None:
    class Slow(MemoryStore):
        """Between its answer and what is done with it, another thread writes."""

        def get(self, key: str) -> bytes | None:
            value = super().get(key)
            if value == b"old":
                run_together([lambda: store.put("key", b"new") if write == "put" else store.delete("key")])
            return value

    top, bottom = MemoryStore(), Slow()
    bottom.put("key", b"old")
    store = Tiered([Level(top), Level(bottom)])
    assert store.get("key") == b"old"
    assert store.get("key") == (b"new" if write == "put" else None)


def test_a_reader_does_not_wait_for_a_writer() -> None:
    top, bottom, hanging = MemoryStore(), MemoryStore(), Hanging()
    store = Tiered([Level(top), Level(bottom), Level(hanging)])
    writer = threading.Thread(target=store.put, args=("key", b"new"))
    writer.start()
    while not hanging.asked:
        time.sleep(0.01)
    top.delete("key")
    assert store.get("key") == b"new"
    assert contents(top) == {}  # not filled meanwhile
    hanging.go.set()
    writer.join()
    assert store.get("key") == b"new" and contents(top) == {"key": b"new"}


def test_a_forked_child_can_write_what_was_being_written() -> None:
    need("linux", sys.platform == "linux")
    run_python(
        """
        import os, threading
        from ortcache.stores import MemoryStore
        from ortcache.stores.tiered import Level, Tiered
        store = Tiered([Level(MemoryStore()), Level(MemoryStore())])
        with store._stripes.of("key").writing():
            child = os.fork()
            if child == 0:
                thread = threading.Thread(target=store.put, args=("key", b"x"), daemon=True)
                thread.start()
                thread.join(30)
                os._exit(0 if store.get("key") == b"x" else 1)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
