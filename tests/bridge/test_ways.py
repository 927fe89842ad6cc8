"""What providers do with a directory that is not as it should be."""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import pytest

from ortcache import bridge
from ortcache.bridge import tree
from ortcache.bridge.contents import KEPT_IDLE
from ortcache.scope import Scope
from ortcache.stores import MemoryStore

from ..support.oracles import need
from .runs import Counting, content, run, writes


def test_a_provider_that_writes_nothing_is_told_of_once(temporary: Path, store: MemoryStore) -> None:
    with pytest.warns(RuntimeWarning, match="left no file in its cache directory") as seen:
        with bridge.directory(store, "fake", scope="v1") as d:
            bridge.options_for("TensorrtExecutionProvider", d)
            d.save()
    assert len(seen) == 1 and "TensorrtExecutionProvider" in str(seen[0].message)
    assert seen[0].filename == __file__
    assert d.stats.saved_files == 0


def test_names_that_change_from_run_to_run_are_told_of_and_do_not_pile_up(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(engine_0__bin=b"0"))
    dropped = 0
    for turn in range(1, 12):
        with pytest.warns(RuntimeWarning, match="file names change from run to run"):
            dropped += run(store, writes(**{f"engine_{turn}__bin": str(turn).encode()})).stats.dropped_files
        assert len([key for key in store.keys() if ".directory." in key]) == 1  # noqa: SIM118
    found: dict[str, bytes] = {}
    run(store, lambda path: found.update(content(path)))
    assert sorted(found) == [f"engine_{turn}.bin" for turn in sorted(range(11 - KEPT_IDLE, 12), key=str)]
    assert dropped == 11 - KEPT_IDLE


def test_files_that_are_read_stay_however_many_new_ones_come(temporary: Path, store: MemoryStore) -> None:
    run(store, writes(shared__bin=b"read by all"))
    if not tree.reads_are_seen(temporary):
        need("linux", False)
    for turn in range(KEPT_IDLE + 3):
        run(
            store,
            lambda path, turn=turn: ((path / "shared.bin").read_bytes(), (path / f"{turn}.bin").write_bytes(b"x")),
        )
    found: dict[str, bytes] = {}
    run(store, lambda path: found.update(content(path)))
    assert "shared.bin" in found and "0.bin" not in found


def test_where_reads_are_not_seen_old_names_go_too(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ortcache.bridge.contents.reads_are_seen", lambda root: False)
    run(store, writes(old__bin=b"old", profile=b"0"))
    for turn in range(KEPT_IDLE + 1):
        run(store, writes(profile=f"{turn}!".encode()))  # no new name: nothing says that the old one is of no use
    found: dict[str, bytes] = {}
    for turn in range(KEPT_IDLE + 1):
        with pytest.warns(RuntimeWarning, match="change from run to run"):
            run(store, writes(**{f"n{turn}__bin": b"x"}))
    run(store, lambda path: found.update(content(path)))
    assert "old.bin" not in found and f"n{KEPT_IDLE}.bin" in found


def test_files_made_anew_with_the_same_content_are_told_of_and_not_stored(
    temporary: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store = Counting()
    run(store, writes(a__blob=b"blob"))

    def again(path: Path) -> None:
        (path / "a.blob").unlink()
        (path / "a.blob").write_bytes(b"blob")

    d = run(store, again)
    assert store.puts == 1 and d.stats.rewritten_files == 1
    assert "made 'a.blob' anew" in caplog.text


def test_what_cannot_be_packed_is_told_of_and_left_out(temporary: Path, store: MemoryStore, tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")

    def write(path: Path) -> None:
        (path / "good").write_bytes(b"good")
        (path / "link").symlink_to(tmp_path / "secret")
        (path / "folder").symlink_to(tmp_path)
        (path / "a:b").write_bytes(b"x")
        os.mkfifo(path / "pipe")

    with pytest.warns(RuntimeWarning, match="is not stored") as seen:
        d = run(store, write)
    assert len(seen) == 4 and (d.stats.saved_files, d.stats.dropped_files) == (1, 4)
    found: dict[str, bytes] = {}
    run(store, lambda path: found.update(content(path)))
    assert found == {"good": b"good"}


def test_a_folder_that_changes_while_it_is_read_is_read_again(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engine and profile are written one after the other, and the save falls between."""
    real, calls = tree.read_file, []

    def read(root: Path, name: str, into: memoryview) -> None:
        if not calls:
            (root / "profile").write_bytes(b"new profile")
        calls.append(name)
        real(root, name, into)

    monkeypatch.setattr("ortcache.bridge.contents.read_file", read)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        (d.path / "engine").write_bytes(b"new engine")
        (d.path / "profile").write_bytes(b"old")
        assert d.save()
    assert len(calls) > 2
    found: dict[str, bytes] = {}
    run(store, lambda path: found.update(content(path)))
    assert found == {"engine": b"new engine", "profile": b"new profile"}


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        (None, "by the name 'openvino' alone"),
        ("models/model.onnx", "by the path 'models/model.onnx' alone"),
        (Scope({"path": "model.onnx"}), "by the path 'model.onnx' alone"),
        ("model 7, engine 10.3", None),
        (Scope.of(model=b"\x08\x07"), None),
    ],
)
def test_an_entry_that_does_not_depend_on_the_model_is_warned_of(
    temporary: Path, store: MemoryStore, scope: Scope | str | None, said: str | None
) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        d = bridge.directory(store, "openvino", scope=scope)
        d.close()
    told = [str(warning.message) for warning in seen if "another model under it" in str(warning.message)]
    assert told == [text for text in told if said and said in text]
    assert len(told) == (said is not None)
    assert all(warning.filename == __file__ for warning in seen)
