"""The store that checks its values."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from ortcache.errors import InputError, StoreError
from ortcache.stores import Buffer, DirectoryStore, MemoryStore, Store
from ortcache.stores.namespaced import Namespaced
from ortcache.stores.protocol import Entry, get_view, list_entries
from ortcache.stores.readonly import ReadOnly
from ortcache.stores.seal import SEAL_SIZE
from ortcache.stores.verified import QUARANTINE, Verified, VerifyReport

from .conformance import Conformance, run_together
from .contents import contents, damage

SECRET = bytes(range(32))


class TestVerified(Conformance):
    """What every store must do."""

    @pytest.fixture
    def store(self) -> Verified:
        return Verified(MemoryStore())


class TestWithAMacOverADirectory(Conformance):
    """The same."""

    @pytest.fixture
    def store(self, tmp_path: Path) -> Verified:
        return Verified(DirectoryStore(tmp_path / "s"), mac_key=SECRET)


@pytest.fixture
def inner() -> MemoryStore:
    return MemoryStore()


def raw(store: Store, key: str) -> bytes:
    data = store.get(key)
    assert data is not None
    return data


def aside(inner: Store) -> list[str]:
    return [key for key in inner.keys() if key.startswith(QUARANTINE)]  # noqa: SIM118


@pytest.mark.parametrize("change", ["flip", "cut", "longer", "empty"])
def test_a_damaged_value_is_a_miss_and_moved_aside(
    inner: MemoryStore, change: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = Verified(inner)
    store.put("key", b"value")
    data = raw(inner, "key")
    inner.put("key", {"flip": data[:-1] + b"E", "cut": data[:-1], "longer": data + b"!", "empty": b""}[change])
    with caplog.at_level(logging.WARNING, "ortcache.stores"):
        assert store.get("key") is None
    assert (store.damaged, store.foreign) == (1, 0)
    assert [record.getMessage().count("'key' is damaged") for record in caplog.records] == [1]
    assert inner.get("key") is None
    assert len(aside(inner)) == 1
    assert list(store.keys()) == [] and list(store.entries()) == []
    assert list(store.quarantined()) == ["key"]
    assert store.get("key") is None and store.damaged == 1
    store.put("key", b"again")
    assert store.get("key") == b"again"


def test_a_foreign_value_is_a_miss_and_counted_apart(inner: MemoryStore) -> None:
    inner.put("unsealed", b"an engine that somebody put here by hand, longer than a seal is" * 2)
    Verified(inner, mac_key=SECRET).put("other-mac", b"x")
    Verified(inner).put("one", b"1")
    inner.put("copied", raw(inner, "one"))
    store = Verified(inner)
    assert [store.get(key) for key in ("unsealed", "other-mac", "copied", "one")] == [None, None, None, b"1"]
    assert (store.damaged, store.foreign) == (0, 3)


def test_what_is_kept_aside_is_bounded(inner: MemoryStore) -> None:
    store = Verified(inner)
    for number in range(100):
        store.put(f"key{number}", b"value")
        damage(inner, f"key{number}")
        assert store.get(f"key{number}") is None
    assert store.damaged == 100
    assert len(aside(inner)) == len(list(inner.keys())) == len(store.quarantined()) == 8


def test_at_a_cap_no_good_entry_makes_room_for_what_is_kept_aside() -> None:
    inner = MemoryStore(max_size=1040)
    store = Verified(inner)
    for key in "abcde":
        store.put(key, bytes(200 - SEAL_SIZE))
    damage(inner, "e")
    assert store.get("e") is None
    assert sorted(store.keys()) == ["a", "b", "c", "d"]
    assert list(store.quarantined()) == ["e"]


def test_log_lines_are_bounded(inner: MemoryStore, caplog: pytest.LogCaptureFixture) -> None:
    store = Verified(inner)
    with caplog.at_level(logging.WARNING, "ortcache.stores"):
        for _ in range(50):
            inner.put("key", b"foreign")
            assert store.get("key") is None
    assert store.foreign == 50
    assert len(caplog.records) == 20
    assert "only counted" in caplog.records[-1].getMessage()


def test_in_a_read_only_store_it_stays_and_is_a_miss(inner: MemoryStore, caplog: pytest.LogCaptureFixture) -> None:
    Verified(inner).put("key", b"value")
    damage(inner, "key")
    store = Verified(ReadOnly(inner))
    before = raw(inner, "key")
    with caplog.at_level(logging.WARNING, "ortcache.stores"):
        assert store.get("key") is None
    assert store.damaged == 1
    assert "read-only" in caplog.text
    assert contents(inner) == {"key": before}


def test_where_nothing_can_be_written_any_more_it_is_a_miss(caplog: pytest.LogCaptureFixture) -> None:
    class Full(MemoryStore):
        full = False

        def put(self, key: str, value: Buffer) -> None:
            if self.full:
                raise OSError(28, "No space left on device")
            super().put(key, value)

    inner = Full()
    Verified(inner).put("key", b"value")
    damage(inner, "key")
    inner.full = True
    with caplog.at_level(logging.WARNING, "ortcache.stores"):
        assert Verified(inner).get("key") is None
    assert "No space left" in caplog.text
    assert list(inner.keys()) == []


def test_where_not_even_deleting_works_it_is_a_miss(caplog: pytest.LogCaptureFixture) -> None:
    class Stuck(MemoryStore):
        def delete(self, key: str) -> bool:
            raise StoreError("not allowed")

    inner = Stuck()
    inner.put("key", b"foreign")
    with caplog.at_level(logging.WARNING, "ortcache.stores"):
        assert Verified(inner).get("key") is None
    assert "could not be moved aside: StoreError: not allowed" in caplog.text


def test_a_value_that_somebody_replaced_meanwhile_is_not_deleted() -> None:
    class Late(MemoryStore):
        """Another process stores the entry anew just after its damage was read."""

        def put(self, key: str, value: Buffer) -> None:
            if key.startswith(QUARANTINE):
                Verified(self).put("key", b"new")
            super().put(key, value)

    inner = Late()
    inner.put("key", b"foreign")
    store = Verified(inner)
    assert store.get("key") is None
    assert store.get("key") == b"new"


def test_a_failure_of_the_backend_is_no_miss() -> None:
    class Dead(MemoryStore):
        def get(self, key: str) -> bytes | None:
            raise StoreError("down")

    with pytest.raises(StoreError):
        Verified(Dead()).get("key")


@pytest.mark.parametrize("key", [QUARANTINE + "0", QUARANTINE + "x"])
def test_where_values_are_moved_to_is_no_entry(inner: MemoryStore, key: str) -> None:
    store = Verified(inner)
    for call in (store.get, store.delete, store.quarantine, lambda k: store.put(k, b"x")):
        with pytest.raises(InputError, match="cannot be an entry's key"):
            call(key)


def test_sizes_are_those_of_the_values(tmp_path: Path) -> None:
    store = Verified(DirectoryStore(tmp_path / "s"))
    store.put("empty", b"")
    store.put("ten", b"0123456789")
    store.inner.put("cut", b"ORT")
    assert {(entry.key, entry.size) for entry in list_entries(store)} == {("empty", 0), ("ten", 10), ("cut", 0)}


def test_entries_keep_when_they_were_used() -> None:
    class Listing(MemoryStore):
        def entries(self) -> list[Entry]:
            return [Entry("key", SEAL_SIZE + 5, used=12.5), Entry(QUARANTINE + "3", 99)]

    assert list(Verified(Listing()).entries()) == [Entry("key", 5, used=12.5)]  # type: ignore[arg-type]


def test_verify_reports_and_changes_nothing(inner: MemoryStore) -> None:
    store = Verified(inner)
    for key in ("good", "better", "bad", "strange"):
        store.put(key, b"value")
    damage(inner, "bad")
    inner.put("strange", b"x" * 100)
    before = contents(inner)
    report = store.verify()
    assert report == VerifyReport(2, 10, {"bad": "its checksum is wrong"}, {"strange": "it is not sealed"})
    assert not report.good
    assert contents(inner) == before
    assert (store.damaged, store.foreign) == (0, 0)


def test_verify_moves_aside_on_request(inner: MemoryStore) -> None:
    store = Verified(inner)
    store.put("good", b"value")
    store.put("bad", b"value")
    damage(inner, "bad")
    assert store.verify(move=True).damaged == {"bad": "its checksum is wrong"}
    assert store.verify().good
    assert list(store.keys()) == ["good"]
    assert store.quarantined() == {"bad": 5 + SEAL_SIZE}


def test_a_whole_entry_can_be_moved_aside(inner: MemoryStore) -> None:
    store = Verified(inner)
    store.put("key", b"an engine that crashes")
    assert store.quarantine("key") is True
    assert store.quarantine("key") is False
    assert store.get("key") is None
    assert list(store.quarantined()) == ["key"]


def test_threads_that_find_the_same_damage_all_get_a_miss(inner: MemoryStore) -> None:
    store = Verified(inner)
    store.put("key", b"value")
    damage(inner, "key")
    found: list[bytes | None] = []
    run_together([lambda: found.append(store.get("key"))] * 8)
    assert found == [None] * 8
    assert 1 <= store.damaged <= 8


def test_repr_does_not_tell_the_secret(inner: MemoryStore) -> None:
    assert repr(Verified(inner, mac_key=SECRET)) == "Verified(MemoryStore(0 values))"


def test_a_view_is_checked_as_a_value_is(tmp_path: Path) -> None:
    inner = DirectoryStore(tmp_path / "s")
    store = Namespaced(Verified(inner), "space")
    for key in ("key", "k" * 200):
        store.put(key, b"a value")
        view = get_view(store, key)
        assert view is not None and view == b"a value" == store.get(key)
    assert get_view(store, "none") is None
    (stored, *_) = [key for key in inner.keys() if key == "space.key"]  # noqa: SIM118 - a store is no mapping
    inner.put(stored, (inner.get(stored) or b"")[:-1])
    assert get_view(store, "key") is None
    assert Verified(inner).quarantined().keys() == {"space.key"}
    plain = MemoryStore()
    plain.put("key", b"a value")
    assert get_view(plain, "key") == b"a value" and get_view(plain, "none") is None
