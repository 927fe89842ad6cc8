"""One file with many entries: out of one store and into another."""

from __future__ import annotations

import io
import json
import os
import stat
import sys
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError, StoreError
from ortcache.stores import Buffer, DirectoryStore, MemoryStore
from ortcache.stores.bundle import check_bundle, export_bundle, import_bundle
from ortcache.stores.readonly import ReadOnly
from ortcache.stores.verified import Verified

from ..support.oracles import need
from .conformance import SAFE_KEYS
from .contents import contents, damage
from .faulty import Faulty


@pytest.fixture
def store() -> MemoryStore:
    store = MemoryStore()
    for number, key in enumerate(SAFE_KEYS):
        store.put(key, bytes([number]) * number * 1000)
    return store


def test_what_was_exported_is_imported(store: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / "日本 cache.zip"
    exported = export_bundle(store, path, info={"ort_version": "1.32.0"})
    other = DirectoryStore(tmp_path / "s")
    assert import_bundle(path, other) == check_bundle(str(path)) == exported
    assert contents(other) == contents(store)
    assert exported.info == {"ort_version": "1.32.0"}
    assert exported.size == sum(len(value or b"") for value in contents(store).values())
    assert [entry.key for entry in exported.entries] == sorted(SAFE_KEYS)
    assert sorted(os.listdir(tmp_path)) == sorted(["s", path.name])  # noqa: PTH208 - names


def test_a_file_that_is_open_will_do(store: MemoryStore) -> None:
    file, other = io.BytesIO(), MemoryStore()
    export_bundle(store, file)
    assert not file.closed
    import_bundle(file, other)
    assert not file.closed
    assert contents(other) == contents(store)


def test_the_same_entries_make_the_same_bytes(tmp_path: Path) -> None:
    files = []
    for keys in (["b", "a", "c"], ["c", "b", "a"]):
        store = MemoryStore()
        for key in keys:
            store.put(key, key.encode() * 100)
        files.append(io.BytesIO())
        export_bundle(store, files[-1], info=dict.fromkeys(keys, "x"))
    assert files[0].getvalue() == files[1].getvalue()


def test_any_zip_tool_reads_it(store: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / "cache.zip"
    export_bundle(store, path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert archive.read("entries/case") == store.get("case")
        assert json.loads(archive.read("manifest.json"))["format"] == "ortcache-bundle"
        repacked = tmp_path / "repacked.zip"
        with zipfile.ZipFile(repacked, "w", zipfile.ZIP_DEFLATED) as other:
            for name in archive.namelist():
                other.writestr(name, archive.read(name))
    assert repacked.stat().st_size < path.stat().st_size
    imported = MemoryStore()
    import_bundle(repacked, imported)
    assert contents(imported) == contents(store)


def test_only_some_keys(store: MemoryStore) -> None:
    file, other = io.BytesIO(), MemoryStore()
    export_bundle(store, file, keys=["case", "CASE", "case"])
    import_bundle(file, other)
    assert sorted(contents(other)) == ["CASE", "case"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"keys": ["case", "absent"]}, "there is no entry 'absent'"),
        ({"keys": ["../x"]}, "is not safe"),
        ({"keys": ["quarantine.1"]}, "was moved aside"),
        ({"info": {"a": 1}}, "is text"),
    ],
)
def test_what_cannot_be_exported_leaves_no_file(
    store: MemoryStore, tmp_path: Path, arguments: dict[str, Any], said: str
) -> None:
    store.put("quarantine.1", b"x")
    with pytest.raises(InputError, match=said):
        export_bundle(store, tmp_path / "cache.zip", **arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_fails_on_the_way_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    path = tmp_path / "cache.zip"
    path.write_bytes(b"before")

    class Dying(MemoryStore):
        def get(self, key: str) -> bytes | None:
            if key == "b":
                raise StoreError("gone")
            return super().get(key)

    store = Dying()
    for key in "abc":
        store.put(key, b"x" * 100_000)
    with pytest.raises(StoreError, match="gone"):
        export_bundle(store, path)
    assert path.read_bytes() == b"before"
    assert [entry.name for entry in tmp_path.iterdir()] == ["cache.zip"]


def test_a_bundle_takes_no_directorys_place(store: MemoryStore, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="directory"):
        export_bundle(store, tmp_path)
    with pytest.raises(FileNotFoundError):
        export_bundle(store, tmp_path / "absent" / "cache.zip")


def test_only_its_owner_may_read_it(store: MemoryStore, tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    export_bundle(store, tmp_path / "cache.zip")
    assert stat.S_IMODE((tmp_path / "cache.zip").stat().st_mode) == 0o600


def test_an_entry_that_goes_meanwhile_is_left_out() -> None:
    class Going(MemoryStore):
        def get(self, key: str) -> bytes | None:
            return None if key == "b" else super().get(key)

    store, file, other = Going(), io.BytesIO(), MemoryStore()
    for key in "abc":
        store.put(key, b"x")
    assert [entry.key for entry in export_bundle(store, file).entries] == ["a", "c"]
    import_bundle(file, other)
    assert sorted(contents(other)) == ["a", "c"]


def test_from_a_verified_store_come_whole_values_without_seals() -> None:
    inner = MemoryStore()
    store = Verified(inner, mac_key=bytes(32))
    for key in ("good", "bad"):
        store.put(key, b"value")
    damage(inner, "bad")
    file, plain = io.BytesIO(), MemoryStore()
    export_bundle(store, file)
    import_bundle(file, plain)
    assert contents(plain) == {"good": b"value"}
    sealed, again = io.BytesIO(), MemoryStore()
    export_bundle(inner, sealed)  # as they are stored: only who has the key can have made them
    import_bundle(sealed, again)
    assert contents(Verified(again, mac_key=bytes(32))) == {"good": b"value"}


def test_importing_replaces_what_has_the_same_key_and_leaves_the_rest(store: MemoryStore) -> None:
    file, other = io.BytesIO(), MemoryStore()
    export_bundle(store, file)
    other.put("case", b"old")
    other.put("own", b"stays")
    import_bundle(file, other)
    assert (other.get("case"), other.get("own")) == (store.get("case"), b"stays")


def test_an_empty_store_makes_a_bundle_too() -> None:
    file = io.BytesIO()
    assert export_bundle(MemoryStore(), file).entries == ()
    assert import_bundle(file, MemoryStore()).size == 0


def test_a_read_only_store_is_not_imported_into(store: MemoryStore) -> None:
    file = io.BytesIO()
    export_bundle(store, file)
    with pytest.raises(InputError, match="read-only"):
        import_bundle(file, ReadOnly(MemoryStore()))


def test_a_failure_of_the_store_is_raised_as_it_is(store: MemoryStore) -> None:
    file = io.BytesIO()
    export_bundle(store, file)
    with pytest.raises(StoreError, match="connection refused"):
        import_bundle(file, Faulty(down=True))

    class Full(MemoryStore):
        def put(self, key: str, value: Buffer) -> None:
            raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space left"):
        import_bundle(file, Full())


@pytest.mark.parametrize(("limit", "fits"), [("1k", False), (2999, False), (3000, True), ("1G", True)])
def test_more_than_is_allowed_is_refused(limit: str | int, fits: bool) -> None:
    store, file, other = MemoryStore(), io.BytesIO(), MemoryStore()
    for key in "abc":
        store.put(key, bytes(1000))
    export_bundle(store, file)
    if fits:
        assert import_bundle(file, other, max_size=limit).size == 3000
    else:
        with pytest.raises(InputError, match="its values have 3000 bytes"):
            import_bundle(file, other, max_size=limit)
        assert contents(other) == {}


def test_one_value_at_a_time_is_in_memory(tmp_path: Path) -> None:
    size, count = 4 << 20, 12
    store = DirectoryStore(tmp_path / "s")
    for number in range(count):
        store.put(f"key{number}", bytes([number]) * size)
    other = DirectoryStore(tmp_path / "t")
    tracemalloc.start()
    try:
        export_bundle(store, tmp_path / "cache.zip")
        import_bundle(tmp_path / "cache.zip", other)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * size
    assert len(list(other.keys())) == count
