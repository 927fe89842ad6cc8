"""Parts of a store, with keys of their own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ortcache.errors import InputError
from ortcache.keys import MAX_LENGTH
from ortcache.stores import DirectoryStore, MemoryStore, Store
from ortcache.stores.framing import frame
from ortcache.stores.namespaced import MAX_PREFIX, Namespaced
from ortcache.stores.protocol import list_entries
from ortcache.stores.verified import Verified

from .conformance import SAFE_KEYS, Conformance

LONG = "k" * MAX_LENGTH


class TestNamespaced(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self) -> Namespaced:
        return Namespaced(MemoryStore(), "a" * 64)


class TestNestedOverADirectory(Conformance):
    """The same, with names of files at their longest, and keys that are hashed twice."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Namespaced:
        return Namespaced(Namespaced(DirectoryStore(tmp_path / "s"), "A" * MAX_PREFIX), "B" * MAX_PREFIX)


def fill(store: Store, keys: list[str], mark: str) -> None:
    for key in keys:
        store.put(key, f"{mark} {key}".encode())


@pytest.mark.parametrize(
    ("one", "other"), [("a", "b"), ("a", "ab"), ("a", "A"), ("a", "a-"), ("-", "--"), ("x" * 99, "x" * 100)]
)
def test_two_never_see_each_others(one: str, other: str) -> None:
    inner = MemoryStore()
    first, second = Namespaced(inner, one), Namespaced(inner, other)
    fill(first, SAFE_KEYS, "first")
    assert list(second.keys()) == []
    fill(second, SAFE_KEYS, "second")
    for key in SAFE_KEYS:
        assert first.get(key) == f"first {key}".encode()
        assert second.delete(key) is True
    assert sorted(first.keys()) == sorted(SAFE_KEYS)
    assert list(second.keys()) == []


@given(
    st.lists(
        st.tuples(st.from_regex(r"\A[ab-]{1,3}\Z"), st.from_regex(r"\A[ab-][ab.-]{0,3}[ab]\Z")), unique=True, max_size=8
    )
)
def test_prefix_and_key_together_are_never_anothers(pairs: list[tuple[str, str]]) -> None:
    inner = MemoryStore()
    for number, (prefix, key) in enumerate(pairs):
        Namespaced(inner, prefix).put(key, b"%d" % number)
    for number, (prefix, key) in enumerate(pairs):
        assert Namespaced(inner, prefix).get(key) == b"%d" % number
    for prefix in {prefix for prefix, _ in pairs}:
        assert sorted(Namespaced(inner, prefix).keys()) == sorted(key for p, key in pairs if p == prefix)


def test_one_over_another_is_a_part_of_it() -> None:
    outer = Namespaced(MemoryStore(), "outer")
    nested, beside = Namespaced(outer, "in"), Namespaced(outer, "in2")
    for key in ("key", LONG):
        nested.put(key, b"x")
        assert nested.get(key) == b"x"
    assert sorted(nested.keys()) == sorted(["key", LONG])
    assert list(beside.keys()) == []
    assert outer.get("in.key") == b"x"
    assert len(list(outer.keys())) == 2


@pytest.mark.parametrize("length", [MAX_LENGTH - 3, MAX_LENGTH - 2, MAX_LENGTH - 1, MAX_LENGTH])
def test_a_key_of_any_length_fits(length: int) -> None:
    inner = MemoryStore()
    store = Namespaced(inner, "p")
    keys = ["k" * length, "k" * (length - 1) + "j"]
    for key in keys:
        store.put(key, key[-1].encode())
    assert [store.get(key) for key in keys] == [b"k", b"j"]
    assert sorted(store.keys()) == sorted(keys)
    assert max(map(len, inner.keys())) <= MAX_LENGTH


def test_what_no_key_is_called_is_not_listed() -> None:
    inner = MemoryStore()
    store = Namespaced(inner, "p")
    store.put("console", b"x")
    for stored in ("p.con", "p.nul.txt", "p..x", "p..con"):  # right below, and no key of the namespace
        inner.put(stored, b"y")
    assert list(store.keys()) == ["console"]
    assert [entry.key for entry in store.entries()] == ["console"]


def test_listing_reads_only_the_values_of_hashed_keys() -> None:
    read = []

    class Watched(MemoryStore):
        def get(self, key: str) -> bytes | None:
            read.append(key)
            return super().get(key)

    store = Namespaced(Watched(), "p")
    fill(store, ["a", "b", LONG], "x")
    assert len(list(store.keys())) == 3
    assert len(read) == 1 and read[0].startswith("p..")


def test_entries_have_the_keys_and_sizes_that_were_put() -> None:
    inner = MemoryStore()
    inner.put("stranger", b"x" * 50)
    for store in (Namespaced(inner, "p"), Namespaced(Verified(inner), "q"), Verified(Namespaced(inner, "r"))):
        store.put("a", b"123")
        store.put(LONG, b"4567")
        found = {(entry.key, entry.size) for entry in list_entries(store)}
        assert found == {("a", 3), (LONG, 4)}, store


def test_a_value_under_the_hash_of_another_key_is_a_miss() -> None:
    inner = MemoryStore()
    store = Namespaced(inner, "p")
    store.put(LONG, b"x")
    [stored] = inner.keys()
    for data in (frame(LONG[:-1] + "j", b"x"), frame("../x", b"x"), frame("a", b"x"), b"", b"x" * 500):
        inner.put(stored, data)
        assert store.get(LONG) is None
        assert list(store.keys()) == []
        assert list(store.entries()) == []


@pytest.mark.parametrize(
    ("prefix", "said"),
    [("", "characters"), ("a.b", "a dot"), ("../x", "only letters"), ("x" * 101, "1 to 100"), ("nul", "reserves"),
     ("COM1", "reserves"), (".a", "dot")],
)  # fmt: skip
def test_a_prefix_that_could_be_misread_is_refused(prefix: str, said: str) -> None:
    with pytest.raises(InputError, match=f"cannot be the prefix of a namespace: .*{said}"):
        Namespaced(MemoryStore(), prefix)


def test_a_prefix_that_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="it is int, not text"):
        Namespaced(MemoryStore(), 3)  # type: ignore[arg-type]
