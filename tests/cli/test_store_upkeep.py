"""``verify``, ``prune``, ``stats``, ``export``, ``import``, and every command over every kind of store."""

from __future__ import annotations

import json
import os
import time
import zipfile
from pathlib import Path

import pytest

from ortcache.scope import Scope
from ortcache.stores import DirectoryStore
from ortcache.stores.seal import SEAL_SIZE
from ortcache.stores.url import open_store

from ..support.cli import run
from .upkeep import DAY, VALUE, age, damage, document, keys


def test_every_command_does_the_same_over_every_store(any_store: str, tmp_path: Path) -> None:
    value, copy, bundle = tmp_path / "value", tmp_path / "copy", tmp_path / "bundle.zip"
    value.write_bytes(VALUE)
    for key in ("mul-1", "mul-2", "add-1"):
        assert document("put", any_store, key, str(value))["size"] == len(VALUE)
    assert document("get", any_store, "mul-1", "-o", str(copy))["size"] == len(VALUE)
    assert copy.read_bytes() == VALUE
    listed = document("ls", ORTCACHE_STORE=any_store)
    assert [(entry["key"], entry["size"]) for entry in listed["entries"]] == [
        (key, len(VALUE)) for key in ("add-1", "mul-1", "mul-2")
    ]
    assert "hunter2" not in json.dumps(listed)
    assert document("verify", any_store)["whole"] == 3
    stats = document("stats", any_store)
    assert (stats["entries"], stats["size"]) == (3, 3 * len(VALUE)) and "hunter2" not in json.dumps(stats)
    assert len(document("export", any_store, str(bundle))["entries"]) == 3
    assert len(document("prune", any_store, "--max-size", str(2 * len(VALUE)))["removed"]) == 1
    assert document("rm", any_store, "--all", "--yes")["not_found"] == []
    assert keys(any_store) == []
    assert len(document("import", str(bundle), any_store)["entries"]) == 3
    assert document("rm", any_store, "mul-*")["removed"] == ["mul-1", "mul-2"]
    assert keys(any_store) == ["add-1"]


def test_verify_finds_what_is_damaged_and_leaves_it_where_it_is(root: Path) -> None:
    damage(root, "b")
    found = document("verify", str(root), code=1)
    assert (found["whole"], found["size"], found["removed"]) == (2, 2 * len(VALUE), [])
    assert found["damaged"] == {"b": "its checksum is wrong"} and found["foreign"] == {}
    result = run("verify", str(root))
    assert result.code == 1 and result.out.splitlines() == [
        "2 whole, 2.0 KiB",
        "1 damaged:",
        "  b  its checksum is wrong",
    ]
    assert sorted(path.name for path in root.iterdir()) == ["a", "b", "c"]
    assert run("get", str(root), "b").code == 1
    assert run("ls", str(root), "--scopes").code == 0
    assert sorted(path.name for path in root.iterdir()) == ["a", "b", "c"]


def test_verify_removes_what_is_damaged_and_what_was_kept_aside(root: Path) -> None:
    damage(root, "b")
    assert open_store(root).get("b") is None  # it is moved aside
    damage(root, "c")
    assert set(document("verify", str(root), code=1)["kept_aside"]) == {"b"}
    assert document("verify", str(root), "--delete", code=1)["removed"] == ["c"]
    assert [path.name for path in root.iterdir()] == ["a"]
    assert document("verify", str(root))["whole"] == 1


def test_verify_keeps_what_is_foreign_and_tells_it(root: Path) -> None:
    DirectoryStore(root).put("raw", VALUE)
    found = document("verify", str(root), "--delete", code=1)
    assert found["foreign"] == {"raw": "it is not sealed"} and found["removed"] == []
    assert (root / "raw").exists()


def test_verify_with_a_mac_key_knows_its_own(tmp_path: Path) -> None:
    where, key = f"file://{tmp_path}/store?mac_key_env=ORTCACHE_TEST_MAC", "k" * 32
    assert run("put", where, "mine", os.devnull, ORTCACHE_TEST_MAC=key).code == 0
    assert run("put", str(tmp_path / "store"), "another", os.devnull).code == 0
    found = document("verify", where, code=1, ORTCACHE_TEST_MAC=key)
    assert found["whole"] == 1 and set(found["foreign"]) == {"another"}
    result = run("verify", where)
    assert result.code == 2 and "ORTCACHE_TEST_MAC" in result.err


def test_verify_without_seals_says_that_there_is_nothing_to_check(tmp_path: Path) -> None:
    DirectoryStore(tmp_path / "store").put("raw", VALUE)
    result = run("verify", f"file://{tmp_path}/store?verify=0")
    assert result.code == 2 and "no seal" in result.err


def test_stats_has_cap_times_and_scopes(root: Path) -> None:
    age(root, a=1, b=3, c=2)
    scope = Scope.of(model=b"model", ep="MulExecutionProvider")
    scope.over(open_store(root)).put("plan", VALUE)
    stats = document("stats", f"file://{root}?max_size=1M")
    assert stats["max_size"] == 1 << 20 and "DirectoryStore" in stats["backend"]
    assert abs(stats["oldest_use"] - (time.time() - 3 * DAY)) < 600 and stats["latest_use"] > stats["oldest_use"]
    (found,) = stats["scopes"]
    assert found["parts"] == dict(scope.parts) and (found["entries"], found["size"]) == (1, len(VALUE))
    text = run("stats", str(root)).out
    assert "no cap" in text and "ep: MulExecutionProvider" in text and "3d ago" in text


def test_a_bundle_warms_another_store(root: Path, tmp_path: Path) -> None:
    bundle, other = str(tmp_path / "bundle.zip"), str(tmp_path / "other")
    assert run("export", str(root), bundle).out == f"3 entries, 3.0 KiB, in {bundle}\n"
    assert zipfile.ZipFile(bundle).testzip() is None
    assert run("import", bundle, other).out == "3 entries, 3.0 KiB, stored\n"
    assert keys(other) == ["a", "b", "c"] and document("verify", other)["whole"] == 3
    assert run("import", bundle, ORTCACHE_STORE=other).code == 0


def test_a_bundle_may_be_a_part(root: Path, tmp_path: Path) -> None:
    bundle = str(tmp_path / "bundle.zip")
    scope = Scope.of(model=b"model", ep="MulExecutionProvider")
    scope.over(open_store(root)).put("plan", VALUE)
    assert [e["key"] for e in document("export", str(root), bundle, "[ab]")["entries"]] == ["a", "b"]
    assert len(document("export", str(root), bundle, "--scope", scope.digest[:8])["entries"]) == 2
    assert run("import", bundle, str(tmp_path / "other")).code == 0
    assert document("ls", str(tmp_path / "other"), "--scopes")["scopes"][0]["parts"] == dict(scope.parts)
    assert run("export", str(root), bundle, "a", "--scope", "x").code == 2


def test_an_export_of_what_is_not_there_writes_nothing(root: Path, tmp_path: Path) -> None:
    result = run("export", str(root), str(tmp_path / "bundle.zip"), "a", "none", "x-*")
    assert (result.code, result.out) == (1, "") and result.err.count("\n") == 2
    assert [path.name for path in tmp_path.iterdir()] == ["store"]


def test_a_bundle_that_is_none_changes_nothing(root: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.zip", tmp_path / "bad.zip"
    assert run("export", str(root), str(good)).code == 0
    flipped = bytearray(good.read_bytes())
    flipped[flipped.index(VALUE) + 5] ^= 1
    for content in (b"no zip", b"", bytes(flipped), good.read_bytes()[:-40]):
        bad.write_bytes(content)
        for args in ((str(tmp_path / "new"),), (str(root),), ("--dry-run",)):
            result = run("import", str(bad), *args)
            assert (result.code, result.out, result.err.count("\n")) == (2, "", 1), (content[:10], result)
            assert result.err.startswith("ortcache: the bundle is refused: ")
    assert not (tmp_path / "new").exists() and keys(str(root)) == ["a", "b", "c"]
    with zipfile.ZipFile(bad, "w") as archive:
        archive.writestr("../climbs", b"x")
    assert "is not safe" in run("import", str(bad), str(root)).err


def test_a_dry_run_of_import_needs_no_store(root: Path, tmp_path: Path) -> None:
    bundle = str(tmp_path / "bundle.zip")
    assert run("export", str(root), bundle).code == 0
    checked = document("import", bundle, "--dry-run")
    assert checked["store"] is None and checked["size"] == 3 * len(VALUE)
    result = run("import", bundle, str(tmp_path / "other"), "--max-size", "2K")
    assert result.code == 2 and "2048 are allowed" in result.err and not (tmp_path / "other").exists()


def test_a_read_only_store_is_read_and_not_written(root: Path) -> None:
    where = f"file://{root}?mode=r"
    assert run("ls", where).code == run("verify", where).code == 0
    for args in (("put", where, "x", os.devnull), ("rm", where, "a"), ("prune", where, "--max-size", "1")):
        result = run(*args)
        assert result.code == 2 and "read-only" in result.err
    assert keys(str(root)) == ["a", "b", "c"]


def test_a_value_is_shown_without_its_seal(root: Path) -> None:
    assert (root / "a").stat().st_size == len(VALUE) + SEAL_SIZE
    assert {entry["size"] for entry in document("ls", str(root))["entries"]} == {len(VALUE)}


@pytest.mark.parametrize(
    "command", [("ls",), ("stats",), ("verify",), ("get", "key"), ("rm", "key"), ("put", "key", os.devnull)]
)
def test_a_server_that_is_down_is_one_line_without_secrets(command: tuple[str, ...]) -> None:
    where = "redis://me:hunter2@127.0.0.1:1/0?timeout=2"
    result = run(command[0], where, *command[1:])
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1), result
    assert "hunter2" not in result.err and "Traceback" not in result.err


@pytest.mark.parametrize("args", [("prune", "--max-size", "1"), ("rm", "--all", "--yes"), ("rm", "*.onnx")])
def test_a_folder_that_is_no_store_is_not_emptied(tmp_path: Path, args: tuple[str, ...]) -> None:
    (tmp_path / "models").mkdir(mode=0o755)
    for name in ("one.onnx", "two.onnx"):
        (tmp_path / "models" / name).write_bytes(VALUE)
    result = run(args[0], str(tmp_path / "models"), *args[1:])
    assert result.code == 2 and "seems to be no store" in result.err
    assert len(list((tmp_path / "models").iterdir())) == 2
    assert run(args[0], f"file://{tmp_path}/models?verify=0", *args[1:]).code == 0
    assert list((tmp_path / "models").iterdir()) == []


def test_one_damaged_entry_does_not_make_a_store_none(root: Path) -> None:
    (root / "a").write_bytes(b"")
    age(root, a=3, b=2, c=1)
    assert run("prune", str(root), "--max-size", "1").code == 0
    assert list(root.iterdir()) == []


@pytest.mark.parametrize("where", ["nonesuch://x", "file://x", "sqlite://", "s3:x", "store?x=1", "file:///x?none=1"])
def test_what_names_no_store_is_bad_input(where: str) -> None:
    result = run("ls", where)
    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)


def test_caches_that_are_off_do_not_hinder_upkeep(root: Path) -> None:
    assert document("ls", str(root), ORTCACHE_DISABLE="1")["size"] == 3 * len(VALUE)
    assert run("rm", str(root), "a", ORTCACHE_DISABLE="1").code == 0
