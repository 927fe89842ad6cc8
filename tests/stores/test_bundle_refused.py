"""Bundles that are damaged or made up: refused before anything is written."""

from __future__ import annotations

import hashlib
import io
import json
import os
import stat
import struct
import sys
import warnings
import zipfile
from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.stores import MemoryStore
from ortcache.stores.bundle import check_bundle, import_bundle

from ..support.oracles import need
from .contents import contents

BEFORE: dict[str, bytes | None] = {"own": b"stays", "key": b"old"}


def target() -> MemoryStore:
    store = MemoryStore()
    for key, value in BEFORE.items():
        store.put(key, value or b"")
    return store


def refused(data: bytes) -> str:
    """The message; the store is as it was."""
    store = target()
    with pytest.raises(InputError, match="the bundle is refused: ") as refusal:
        import_bundle(io.BytesIO(data), store)
    assert contents(store) == BEFORE
    return str(refusal.value)


def described(**values: bytes) -> list[dict[str, Any]]:
    return [{"key": k, "size": len(v), "sha256": hashlib.sha256(v).hexdigest()} for k, v in values.items()]


def archive(members: list[tuple[str | zipfile.ZipInfo, bytes]], manifest: Any = None, method: int = 0) -> bytes:
    """A zip file of these members and a manifest: the document, or its text."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as made, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, data in members:
            made.writestr(name, data)
        if manifest is not None:
            made.writestr("manifest.json", manifest if isinstance(manifest, bytes) else json.dumps(manifest))
    return file.getvalue()


def document(entries: Any, **changed: Any) -> dict[str, Any]:
    return {"format": "ortcache-bundle", "version": 1, "info": {}, "entries": entries, **changed}


def good() -> bytes:
    return archive(
        [("entries/key", b"value"), ("entries/more", b"x" * 50)], document(described(key=b"value", more=b"x" * 50))
    )


def test_the_one_that_the_others_are_changed_from_is_taken() -> None:
    store = target()
    import_bundle(io.BytesIO(good()), store)
    assert contents(store) == {"own": b"stays", "key": b"value", "more": b"x" * 50}


UNSAFE = [
    "../x",
    "/x",
    "C:\\x",
    "C:x",
    "a/..",
    "",
    ".",
    "..",
    "a/b",
    "a\\..\\b",
    ".hidden",
    "nul",
    "x" * 201,
    "é",
    "a\n",
    "quarantine.0",
]


@pytest.mark.parametrize("key", UNSAFE, ids=ascii)
def test_a_name_that_is_no_safe_key_is_refused(key: str) -> None:
    value = b"value"
    assert "is not safe" in refused(archive([("entries/" + key, value)], document(described(**{key: value}))))
    assert "is not safe" in refused(archive([("entries/key", value)], document(described(**{key: value}))))


@pytest.mark.parametrize(
    "name",
    [
        "key",
        "../entries/key",
        "/entries/key",
        "entries",
        "Entries/key",
        "entries\\key",
        "\\",
        "manifest.json/x",
        "MANIFEST.JSON",
    ],
)
def test_a_member_that_is_no_entry_is_refused(name: str) -> None:
    assert "is not below entries/" in refused(archive([(name, b"x")], document([])))


def test_a_name_that_is_cut_at_a_nul_is_refused() -> None:
    data = archive([("entries/key.nul", b"x")], document(described(key=b"x")))
    assert "is not safe" in refused(data.replace(b"entries/key.nul", b"entries/key\0nul"))


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFDIR, stat.S_IFIFO, stat.S_IFCHR])
def test_what_is_no_plain_file_is_refused(kind: int) -> None:
    info = zipfile.ZipInfo("entries/key")
    info.create_system = 3
    info.external_attr = (kind | 0o777) << 16
    assert "is no plain file" in refused(archive([(info, b"/etc/passwd")], document(described(key=b"/etc/passwd"))))


def test_a_name_that_is_there_twice_is_refused() -> None:
    entries = described(key=b"value")
    assert "is there twice" in refused(archive([("entries/key", b"value")] * 2, document(entries)))
    assert "is there twice" in refused(
        archive([("manifest.json", b"{}"), ("entries/key", b"value")], document(entries))
    )
    assert "names an entry twice" in refused(archive([("entries/key", b"value")], document(entries * 2)))


def test_what_the_manifest_does_not_name_or_is_not_there_is_refused() -> None:
    assert "'entries/key' is not in its manifest" in refused(archive([("entries/key", b"value")], document([])))
    assert "'entries/key' is missing" in refused(archive([], document(described(key=b"value"))))


def test_an_archive_that_lies_about_a_size_is_refused() -> None:
    value, zeros = b"value", bytes(3 << 20)
    bomb = archive([("entries/key", zeros)], document(described(key=zeros)), zipfile.ZIP_DEFLATED)
    assert len(bomb) < 20_000
    for said in (10, 0, len(zeros) - 1, len(zeros) + 1, (1 << 32) - 2):
        changed = bomb.replace(struct.pack("<I", len(zeros)), struct.pack("<I", said))
        assert changed != bomb
        refused(changed)
        # And where the manifest tells the same lie.
        lie = document([{"key": "key", "size": said, "sha256": hashlib.sha256(zeros).hexdigest()}])
        both = archive([("entries/key", zeros)], lie, zipfile.ZIP_DEFLATED)
        refused(both.replace(struct.pack("<I", len(zeros)), struct.pack("<I", said)))
    assert "has 5 bytes, and 6 by its manifest" in refused(
        archive([("entries/key", value)], document([{**described(key=value)[0], "size": 6}]))
    )


def test_a_bomb_is_measured_by_what_it_says(tmp_path: Path) -> None:
    zeros = bytes(64 << 20)
    data = archive([("entries/key", zeros)], document(described(key=zeros)), zipfile.ZIP_DEFLATED)
    assert len(data) < 100_000
    with pytest.raises(InputError, match="its values have 67108864 bytes; 1048576 are allowed"):
        check_bundle(io.BytesIO(data), max_size="1M")


def test_a_checksum_that_does_not_match_is_refused() -> None:
    entries = [{**described(key=b"value")[0], "sha256": "0" * 64}]
    assert "'key' is not what its manifest says" in refused(archive([("entries/key", b"value")], document(entries)))


@pytest.mark.parametrize(
    "manifest",
    [
        b"", b"{", b"[]", b"null", b"3", b"{}", b"\xff\xfe", b"[" * 100_000, b'{"format": "ortcache-bundle"}',
        document([], format="other"), document([], version=2), document([], version=True),
        document([], version="1"), document([], info=None),
        document([], info={"a": 1}), document(None), document(3), document("key"),
        document([3]), document([{}]), document([{"key": 3, "size": 0, "sha256": ""}]),
        document([{"key": "a", "size": -1, "sha256": ""}]), document([{"key": "a", "size": True, "sha256": ""}]),
        document([{"key": "a", "size": 1.5, "sha256": ""}]), document([{"key": "a", "size": 1, "sha256": None}]),
    ],
    ids=lambda manifest: str(manifest)[:60],
)  # fmt: skip
def test_a_manifest_that_is_none_is_refused(manifest: Any) -> None:
    said = refused(archive([], manifest))
    assert any(part in said for part in ("manifest", "format version", "no bundle of ortcache's"))


@pytest.mark.parametrize(
    "data", [b"", b"x", b"PK", b"not a bundle" * 100, b"PK\x05\x06" + bytes(18), b"PK\x03\x04" * 20]
)
def test_what_is_no_archive_or_has_no_manifest_is_refused(data: bytes) -> None:
    assert "damaged (BadZipFile" in refused(data) or "no manifest" in refused(data)


def test_an_archive_of_somebody_elses_is_refused() -> None:
    assert "it has no manifest.json" in refused(archive([("entries/key", b"x")]))
    assert "is not below entries/" in refused(archive([("setup.py", b"x")], document([])))


def test_a_huge_manifest_is_not_read() -> None:
    data = archive([], b" " * (65 << 20), zipfile.ZIP_DEFLATED)
    assert "are the most" in refused(data)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_compression_that_is_not_used_is_refused(method: int) -> None:
    assert "compressed in a way" in refused(
        archive([("entries/key", b"value")], document(described(key=b"value")), method)
    )


def test_what_is_encrypted_is_refused() -> None:
    data = bytearray(archive([("entries/key", b"value")], document(described(key=b"value"))))
    place = data.index(b"PK\x01\x02")
    data[place + 8] |= 1
    assert "is encrypted" in refused(bytes(data))


def test_a_path_that_is_no_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", tmp_path / "absent"):
        with pytest.raises(InputError, match=r"is (no file|not there)"):
            import_bundle(path, MemoryStore())
