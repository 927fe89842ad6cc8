"""What every store must do: a store's tests subclass `Conformance` and say how to make one.

A store that several processes may open at once subclasses `tests.stores.sharing.Sharing` instead, which has more tests.
"""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.keys import MAX_LENGTH, check_key
from ortcache.stores import Store
from ortcache.stores.protocol import list_entries

__all__ = ["SAFE_KEYS", "UNSAFE_KEYS", "Conformance"]

SAFE_KEYS = [
    "a", "A", "0", "_", "-", "-rf", "a.b", "a..b", "mul-0123456789abcdef.plan", "CASE", "case", "cAsE", "console",
    "con-", "com10", "nul_", "aux1", "x" * MAX_LENGTH, "X" * MAX_LENGTH, "tmp-1", "a.tmp", "__init__.py",
]  # fmt: skip
UNSAFE_KEYS = [
    "", ".", "..", ".hidden", "../x", "a/b", "/etc/passwd", "a\\b", "C:x", "a:b", "a b", "a\0b", "a\n", "\n", "ä", "日",
    "a*", "a?", 'a"', "a<b", "a|b", "~", "%2e", "a^1", "end.", "con", "CON", "Nul.txt", "aux", "prn.x.y", "com1",
    "LPT9.bin", "x" * (MAX_LENGTH + 1), "a\ud800",
]  # fmt: skip
_NOT_TEXT: list[Any] = [None, 3, b"bytes", ["a"], ("a",), 2.5, object()]


class Conformance:
    """The tests. ``store`` is a fixture of the subclass: an empty store."""

    def test_it_is_a_store(self, store: Store) -> None:
        assert isinstance(store, Store)
        assert repr(store).startswith(type(store).__name__ + "(")

    def test_an_empty_one_has_nothing(self, store: Store) -> None:
        assert list(store.keys()) == []
        assert store.get("key") is None
        assert store.delete("key") is False

    @pytest.mark.parametrize("size", [0, 1, 4095, 65536, 5_000_001])
    def test_a_value_of_any_size_comes_back_as_bytes(self, store: Store, size: int) -> None:
        value = bytes(i % 251 for i in range(min(size, 1000))) * (size // 1000 + 1)
        store.put("key", value[:size])
        found = store.get("key")
        assert type(found) is bytes
        assert found == value[:size]

    @pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
    def test_every_kind_of_buffer_may_be_put(self, store: Store, kind: Any) -> None:
        store.put("key", kind(b"a value"))
        assert store.get("key") == b"a value"

    def test_a_view_with_gaps_or_of_several_dimensions_is_put_as_its_bytes(self, store: Store) -> None:
        store.put("gaps", memoryview(b"a-b-c-")[::2])
        store.put("table", memoryview(bytes(range(6))).cast("B", (2, 3)))
        store.put("numbers", memoryview(b"\1\0\2\0").cast("H"))
        assert [store.get(key) for key in ("gaps", "table", "numbers")] == [b"abc", bytes(range(6)), b"\1\0\2\0"]

    def test_what_is_put_is_a_copy(self, store: Store) -> None:
        value = bytearray(b"before")
        with memoryview(value) as view:
            store.put("key", view)
        value[:] = b"after!"  # a bytearray that somebody still looked at could not be resized below
        value.extend(b"x")
        assert store.get("key") == b"before"

    def test_a_later_value_replaces_an_earlier_one(self, store: Store) -> None:
        for value in (b"long long long", b"short", b"", b"again"):
            store.put("key", value)
            assert store.get("key") == value
        assert list(store.keys()) == ["key"]

    def test_an_empty_value_is_not_a_missing_one(self, store: Store) -> None:
        store.put("key", b"")
        assert store.get("key") == b""
        assert list(store.keys()) == ["key"]
        assert store.delete("key") is True

    def test_what_is_deleted_is_gone(self, store: Store) -> None:
        store.put("one", b"1")
        store.put("two", b"2")
        assert store.delete("one") is True
        assert store.delete("one") is False
        assert store.get("one") is None
        assert list(store.keys()) == ["two"]

    def test_safe_keys_are_apart_and_come_back_as_they_were(self, store: Store) -> None:
        for key in SAFE_KEYS:
            assert check_key(key) == key
            store.put(key, key.encode())
        assert sorted(store.keys()) == sorted(SAFE_KEYS)
        for key in SAFE_KEYS:
            assert store.get(key) == key.encode()
        for key in SAFE_KEYS[::2]:
            assert store.delete(key) is True
        assert sorted(store.keys()) == sorted(SAFE_KEYS[1::2])

    @pytest.mark.parametrize("key", UNSAFE_KEYS, ids=ascii)
    def test_an_unsafe_key_is_refused_by_every_method(self, store: Store, key: str) -> None:
        for call in (store.get, store.delete, lambda k: store.put(k, b"x")):
            with pytest.raises(InputError, match="is not safe"):
                call(key)
        assert list(store.keys()) == []

    @pytest.mark.parametrize("key", _NOT_TEXT, ids=lambda key: type(key).__name__)
    def test_what_is_no_text_is_refused_as_a_key(self, store: Store, key: Any) -> None:
        for call in (store.get, store.delete, lambda k: store.put(k, b"x")):
            with pytest.raises(InputError, match=f"it is {type(key).__name__}, not text"):
                call(key)

    @pytest.mark.parametrize("value", [None, 3, "text", ["x"], object()], ids=lambda value: type(value).__name__)
    def test_what_is_no_buffer_is_refused_as_a_value_and_changes_nothing(self, store: Store, value: Any) -> None:
        store.put("key", b"before")
        with pytest.raises(TypeError):
            store.put("key", value)
        with pytest.raises(TypeError):
            store.put("new", value)
        assert store.get("key") == b"before"
        assert list(store.keys()) == ["key"]

    def test_threads_never_see_half_a_value(self, store: Store) -> None:
        values = [bytes([letter]) * 20_000 for letter in b"abcdef"]
        problems: list[object] = []

        def write(value: bytes) -> None:
            for _ in range(25):
                store.put("shared", value)
                store.put(f"own-{value[0]}", value)
                if store.get(f"own-{value[0]}") != value:
                    problems.append("another's value")

        def read() -> None:
            for _ in range(100):
                found = store.get("shared")
                if found is not None and found not in values:
                    problems.append(found[:20])

        run_together([*(lambda value=value: write(value) for value in values), read, read])  # type: ignore[misc]
        assert problems == []
        assert len(list(store.keys())) == len(values) + 1

    def test_listing_goes_on_while_others_write_and_delete(self, store: Store) -> None:
        store.put("always", b"there")
        problems: list[object] = []
        done = threading.Event()

        def churn(number: int) -> None:
            for turn in range(60):
                store.put(f"k{number}-{turn % 5}", b"x" * turn)
                store.delete(f"k{number}-{(turn + 2) % 5}")
            done.set()

        def look() -> None:
            while not done.is_set():
                keys = list(store.keys())
                if keys.count("always") != 1 or not all(key == "always" or key.startswith("k") for key in keys):
                    problems.append(keys)
                if len(keys) != len(set(keys)):
                    problems.append(keys)

        run_together([lambda: churn(1), lambda: churn(2), look, look])
        assert problems == []

    def test_a_listing_that_was_begun_survives_changes(self, store: Store) -> None:
        for number in range(20):
            store.put(f"key{number}", b"x")
        listing = store.keys()
        first = next(listing)
        for key in list(store.keys()):
            store.delete(key)
        assert len({first, *listing}) <= 20

    def test_entries_tell_sizes_and_when_each_was_used_last(self, store: Store) -> None:
        before = time.time()
        sizes = {"empty": 0, "small": 3, "large": 300_000}
        for key, size in sizes.items():
            store.put(key, b"x" * size)
        store.put("small", b"again")
        found = {entry.key: entry for entry in list_entries(store)}
        assert {key: entry.size for key, entry in found.items()} == {**sizes, "small": 5}
        for entry in found.values():
            assert entry.used is None or before - 5 <= entry.used <= time.time() + 5  # seconds that clocks differ by
        store.delete("large")
        assert sorted(entry.key for entry in list_entries(store)) == ["empty", "small"]

    def test_of_threads_that_delete_one_key_one_did(self, store: Store) -> None:
        results: list[bool] = []
        for turn in range(1, 21):
            store.put("key", b"x")
            run_together([lambda: results.append(store.delete("key"))] * 4)
            assert (len(results), sum(results)) == (4 * turn, turn)


def run_together(functions: list[Any]) -> None:
    """Run each on a thread of its own, begun at once; what one raises is raised here."""
    go, problems = threading.Barrier(len(functions)), []

    def run(function: Any) -> None:
        go.wait()
        try:
            function()
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=run, args=(function,)) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
