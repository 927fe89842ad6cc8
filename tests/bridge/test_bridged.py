"""What a provider gets, and what becomes of what it writes."""

from __future__ import annotations

import logging
import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

import ortcache as oc
from ortcache import bridge
from ortcache.scope import Scope
from ortcache.stores import MemoryStore
from ortcache.stores.readonly import ReadOnly

from .runs import Counting, content, run, writes


def test_files_come_back_in_the_next_run(temporary: Path, store: MemoryStore) -> None:
    def first(path: Path) -> None:
        assert content(path) == {}
        (path / "sub" / "deep").mkdir(parents=True)
        (path / "sub" / "deep" / "型 é.engine").write_bytes(b"engine")
        (path / "timing").write_bytes(b"")

    cold = run(store, first).stats
    assert (cold.misses, cold.hits, cold.saved_files, cold.restored_files) == (1, 0, 2, 0)
    found = {}
    warm = run(store, lambda path: found.update(content(path))).stats
    assert found == {"sub/deep/型 é.engine": b"engine", "timing": b""}
    assert (warm.hits, warm.misses, warm.restored_files, warm.restored_bytes, warm.saved_files) == (1, 0, 2, 6, 0)


def test_the_directory_is_private_and_goes_when_it_is_closed(temporary: Path, store: MemoryStore) -> None:
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None and d.path.is_relative_to(temporary)
        (d.path / "x").write_bytes(b"x")
        for folder in (d.path, d.path.parent):
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert f"-{os.getpid()}-" in str(folder)
    assert not d.path.parent.exists()
    d.close()
    assert not d.save()
    with pytest.raises(oc.ClosedError), d:
        pass
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        assert stat.S_IMODE((d.path / "x").stat().st_mode) == 0o600


def test_nothing_is_stored_where_nothing_changed(temporary: Path) -> None:
    store = Counting()
    run(store, writes(a=b"a", b=b"b"))
    run(store, content)
    run(store)
    assert store.puts == 1
    run(store, writes(b=b"B"))
    assert store.puts == 2


def test_a_file_that_is_written_at_once_with_the_same_size_is_noticed(temporary: Path) -> None:
    store = Counting()
    run(store, writes(a=b"1"))
    for turn in range(5):
        run(store, writes(a=str(turn + 2).encode()))
    assert store.puts == 6
    run(store, lambda path: (path / "a").read_bytes() == b"6" or pytest.fail("the last one is lost"))


def test_a_removed_file_is_not_in_the_entry_any_more(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(a=b"a", b=b"b"))
    run(store, lambda path: (path / "a").unlink())
    found: dict[str, bytes] = {}
    run(store, lambda path: found.update(content(path)))
    assert found == {"b": b"b"}


def test_an_emptied_directory_leaves_the_entry_as_it_was(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(a=b"a"))
    run(store, lambda path: (path / "a").unlink())
    assert run(store).stats.hits == 1


def test_it_is_saved_on_request_and_again_at_the_end(temporary: Path) -> None:
    store = Counting()
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        assert not d.save()
        (d.path / "a").write_bytes(b"a")
        assert d.save() and not d.save()
        assert store.puts == 1 and d.stats.saved_files == 1
        (d.path / "b").write_bytes(b"b")
    assert store.puts == 2 and d.stats.saved_files == 2


def test_after_an_exception_nothing_is_stored_and_nothing_is_left(temporary: Path) -> None:
    store = Counting()
    with pytest.raises(KeyError), bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        (d.path / "half").write_bytes(b"half")
        raise KeyError
    with pytest.raises(SystemExit), bridge.directory(store, "fake", scope="v1") as d:
        raise SystemExit(1)
    assert store.puts == 0
    with pytest.raises(SystemExit), bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        (d.path / "whole").write_bytes(b"whole")
        raise SystemExit(0)
    assert store.puts == 1


@pytest.mark.parametrize("wrap", [ReadOnly, lambda store: store])
def test_a_read_only_directory_restores_and_counts_what_it_drops(
    temporary: Path, wrap: Callable[[MemoryStore], object]
) -> None:
    store = Counting()
    run(store, writes(a=b"a", b=b"b"))
    mode = "rw" if wrap is ReadOnly else "r"
    d = run(wrap(store), writes(b=b"changed", c=b"new"), mode=mode)
    assert d.mode == "r" and store.puts == 1
    assert (d.stats.hits, d.stats.dropped_files, d.stats.dropped_bytes, d.stats.saved_files) == (1, 2, 10, 0)
    assert run(wrap(store), mode=mode).stats.dropped_files == 0


def test_a_write_only_directory_restores_nothing_and_replaces_the_entry(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(a=b"a"))
    d = run(store, lambda path: (content(path) == {}, (path / "b").write_bytes(b"b")), mode="w")
    assert (d.stats.hits, d.stats.misses, d.stats.saved_files) == (0, 0, 1)
    found: dict[str, bytes] = {}
    run(store, lambda path: found.update(content(path)))
    assert found == {"b": b"b"}


def test_a_cache_that_is_turned_off_reads_and_stores_nothing(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(store, writes(a=b"a"))
    before = {key: store.get(key) for key in store.keys()}  # noqa: SIM118
    monkeypatch.setenv("ORTCACHE_DISABLE", "1")
    d = run(store, lambda path: (content(path) == {} or pytest.fail("restored"), (path / "b").write_bytes(b"b")))
    assert not any(d.stats.as_dict().values())
    assert {key: store.get(key) for key in store.keys()} == before  # noqa: SIM118


def test_scopes_and_names_do_not_share_entries(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(a=b"one"), scope="model 1")
    assert run(store, writes(a=b"two"), scope="model 2").stats.misses == 1
    with bridge.directory(store, "other", scope="model 1") as d:
        assert d.stats.misses == 1 and d.path is not None
        (d.path / "x").write_bytes(b"x")
    for scope, expected in (("model 1", b"one"), ("model 2", b"two")):
        found: dict[str, bytes] = {}
        assert run(store, lambda path, found=found: found.update(content(path)), scope=scope).stats.hits == 1
        assert found == {"a": expected}


def test_the_log_says_what_happened_and_why_before_a_build(
    temporary: Path, store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "ortcache.bridge")
    scope = Scope({"model": "m", "ort_version": "1.31.0"})
    run(store, writes(a=b"12345"), scope=scope)
    caplog.clear()
    later = Scope({"model": "m", "ort_version": "1.32.0"})
    with bridge.directory(store, "fake", scope=later) as d:
        assert "miss (ort_version: stored 1.31.0, now 1.32.0); the provider builds now" in caplog.text
        assert d.path is not None
        (d.path / "a").write_bytes(b"x")
    assert "saved 1 files" in caplog.text
    run(store, scope=scope)
    assert "restored 1 files, 5 bytes" in caplog.text


def test_a_model_of_the_same_path_with_new_bytes_is_a_miss(
    temporary: Path, store: MemoryStore, tmp_path: Path, mul_model: Path
) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(mul_model.read_bytes())
    run(store, writes(a=b"a"), scope=Scope.of(model=model))
    changed = bytearray(model.read_bytes())
    changed[-1] ^= 1
    model.write_bytes(changed)
    assert run(store, writes(a=b"b"), scope=Scope.of(model=model)).stats.misses == 1


@pytest.mark.parametrize("scope", ["models/net", "net.onnx", "C:\\models\\net", Scope({"path": "/m/net.ort"})])
def test_a_scope_of_a_path_alone_is_told_of(temporary: Path, store: MemoryStore, scope: object) -> None:
    with pytest.warns(RuntimeWarning, match="alone: another model under it"):
        run(store, writes(a=b"a"), scope=scope)


def test_a_scope_with_the_model_may_name_paths(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(a=b"a"), scope=Scope({"model": "sha256:0", "extra.folder": "/models"}))


@pytest.mark.parametrize(
    "wrong",
    [{"mode": "x"}, {"mode": ""}, {"scope": ""}, {"scope": 3}, {"room": "much"}, {"root": "/not/there"}, {"room": 0}],
)
def test_a_wrong_argument_is_refused(temporary: Path, store: MemoryStore, wrong: dict[str, object]) -> None:
    with pytest.raises(oc.InputError):
        run(store, **wrong)


@pytest.mark.parametrize("wrong", [None, {}, 3, object()])
def test_what_is_no_store_is_refused(temporary: Path, wrong: object) -> None:
    with pytest.raises(oc.InputError, match="is restored from a store"):
        run(wrong)


def test_a_write_only_directory_over_a_read_only_store_is_refused(temporary: Path, store: MemoryStore) -> None:
    with pytest.raises(oc.InputError, match="of no use over it"):
        run(ReadOnly(store), mode="w")


def test_a_store_that_is_named_is_not_opened_where_caches_are_turned_off(
    temporary: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORTCACHE_DISABLE", "1")
    run(tmp_path / "store", writes(a=b"a"))
    assert not (tmp_path / "store").exists()


def test_two_versions_in_turn_keep_both_their_entries(temporary: Path, store: MemoryStore) -> None:
    versions = [Scope({"model": "m", "ort_version": version}) for version in ("1.31.0", "1.32.0")]
    for number, scope in enumerate(versions):
        assert run(store, writes(a=str(number).encode()), scope=scope).stats.misses == 1
    for number, scope in [*enumerate(versions)] * 2:
        found: dict[str, bytes] = {}
        assert run(store, lambda path, found=found: found.update(content(path)), scope=scope).stats.hits == 1
        assert found == {"a": str(number).encode()}


@pytest.mark.parametrize("name", ["", "a/b", "..", "é", "x" * 191])
def test_an_unsafe_name_is_refused(temporary: Path, store: MemoryStore, name: str) -> None:
    with pytest.raises(oc.InputError):
        bridge.directory(store, name, scope="v1")


def test_a_store_may_be_named_by_its_path(temporary: Path, tmp_path: Path) -> None:
    for turn in range(2):
        assert run(tmp_path / "store", writes(a=b"a")).stats.hits == turn
