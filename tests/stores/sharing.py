"""What every store must do that several processes may open at once."""

from __future__ import annotations

import os
import sys

import pytest

from ortcache.stores import Store

from ..support.oracles import need
from ..support.process import run_python, start_python
from .conformance import Conformance

__all__ = ["SECONDS", "Sharing"]

#: How long processes use one key at once: short in a normal run, longer in a stress run.
SECONDS = 5.0 if "ORTCACHE_STRESS" in os.environ else 2.0

#: Bytes of the largest value: 1 GB where ORTCACHE_TEST_LARGE is set.
LARGE = (1 << 30) + 1 if os.environ.get("ORTCACHE_TEST_LARGE") else (64 << 20) + 1

_SPARE = 40 << 20  # bytes: buffers and caches that do not grow with the value

#: One of several users of one key. Values are of one letter each.
_USER = """
import sys, time
letter, seconds = sys.argv[1], float(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
end, hits, turn = time.monotonic() + seconds, 0, 0
while time.monotonic() < end:
    turn += 1
    store.put("shared", letter.encode() * (100_000 + 7 * turn))
    for _ in range(3):
        value = store.get("shared")
        assert value is None or len(value) >= 100_000 and value.count(value[:1]) == len(value), value[:20]
        hits += value is not None
    if turn % 10 == 0:
        store.delete("shared")
    assert set(store.keys()) <= {"shared"}
print(hits)
"""

#: Puts a large value, gets it, and prints by how many bytes the peak of the memory grew each time.
_LARGE = """
import resource, sys
size, block = int(sys.argv[1]), 1 << 20
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
store.put("small", b"x" * block)
store.get("small")
part = lambda start: (start // block).to_bytes(4, "little") * (block // 4)
value = bytearray(size)
for start in range(0, size, block):
    value[start : start + block] = part(start)[: size - start]
before = peak()
with memoryview(value) as view:
    store.put("large", view)
after_put = peak()
del view, value
found = store.get("large")
assert len(found) == size
for start in range(0, size, block):
    assert found[start : start + block] == part(start)[: size - start], start
print(after_put - before, peak() - after_put)
del found
assert store.delete("large")
"""


class Sharing(Conformance):
    """The tests. ``opening`` is a second fixture of the subclass.

    It is Python source that makes ``store``, a store over the same data as the fixture ``store``, in a process that
    can import this package: ``from ortcache.stores import X; store = X(...)``.

    Attributes:
        put_copies: whole copies of a value that a put may make.
        get_copies: likewise a get, besides the value that it gives.
    """

    put_copies = 0
    get_copies = 0

    def test_another_process_sees_what_was_put_and_deleted(self, store: Store, opening: str) -> None:
        store.put("here", b"1")
        store.put("gone", b"2")
        told = run_python(
            f"{opening}\n"
            "print(sorted(store.keys()), store.get('here'), store.delete('gone'))\n"
            "store.put('there', bytes(range(256)))\n"
        )
        assert told == "['gone', 'here'] b'1' True\n"
        assert store.get("gone") is None  # deleted behind its back
        assert store.delete("gone") is False
        assert store.get("there") == bytes(range(256))
        assert sorted(store.keys()) == ["here", "there"]

    def test_processes_that_use_one_key_at_once_get_whole_values(self, store: Store, opening: str) -> None:
        users = [start_python(f"{opening}\n{_USER}", letter, SECONDS) for letter in "abcdefgh"]
        try:
            for user in users:
                assert user.stdout is not None and user.stdin is not None
                assert user.stdout.readline() == "ready\n", user.communicate()
            for user in users:
                assert user.stdin is not None
                user.stdin.write("go\n")
                user.stdin.flush()
            told = [user.communicate(timeout=SECONDS + 60) for user in users]
        finally:
            for user in users:
                user.kill()
                user.communicate()
        assert [err for _, err in told if err] == []
        assert [user.returncode for user in users] == [0] * len(users)
        assert sum(int(out) for out, _ in told) > 0
        value = store.get("shared")
        assert value is None or value.count(value[:1]) == len(value)

    @pytest.mark.timeout(900)
    def test_a_large_value_passes_in_bounded_memory(self, store: Store, opening: str) -> None:
        need("linux", sys.platform == "linux")
        told = run_python(f"{opening}\n{_LARGE}", LARGE, timeout=600)
        put, got = map(int, told.split())
        assert put < self.put_copies * LARGE + _SPARE
        assert got < self.get_copies * LARGE + _SPARE
        assert list(store.keys()) == ["small"]
