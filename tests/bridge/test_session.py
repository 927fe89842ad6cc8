"""Making sessions: an entry that cannot be loaded, a provider that is not there, a process that ends."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

import ortcache as oc
from ortcache import bridge
from ortcache.bridge import BridgedDirectory
from ortcache.errors import EpCacheError
from ortcache.stores import MemoryStore

from ..support.process import run_python
from .sessions import EP, Copying, Fake, seed


def test_an_entry_that_cannot_be_loaded_is_moved_aside_and_built_anew(temporary: Path, store: MemoryStore) -> None:
    seed(store, b"bad")
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.stats.hits == 1
        assert not d.session(Fake).warm
    assert (d.stats.hits, d.stats.misses, d.stats.quarantined, d.stats.saved_files) == (0, 1, 1, 1)
    assert any(".unusable." in key for key in store.keys())  # noqa: SIM118
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.session(Fake).warm
    assert d.stats.quarantined == 0


def test_several_threads_that_cannot_load_an_entry_count_it_once(temporary: Path, store: MemoryStore) -> None:
    seed(store, b"bad")
    threads = 3
    at_once = threading.Barrier(threads)

    def make(d: BridgedDirectory) -> Fake:
        assert d.path is not None
        if (d.path / "engine").exists() and (d.path / "engine").read_bytes() == b"bad":
            at_once.wait(30)
        return Fake(d)

    with bridge.directory(store, "fake", scope="v1") as d, ThreadPoolExecutor(threads) as pool:
        for session in [pool.submit(d.session, make) for _ in range(threads)]:
            assert session.result().get_providers()
    assert (d.stats.hits, d.stats.misses, d.stats.quarantined, d.stats.saved_files) == (0, 1, 1, 1)


def test_the_mark_stays_until_the_last_thread_has_loaded(temporary: Path, store: MemoryStore) -> None:
    seed(store, b"good")
    mark = "*/loading"
    with bridge.directory(store, "fake", scope="v1") as d:

        def make(d: BridgedDirectory) -> Fake:
            d.session(Fake)
            assert len(list(temporary.glob(mark))) == 1
            return Fake(d)

        assert d.session(make).warm
        assert list(temporary.glob(mark)) == []


def test_what_was_restored_is_not_kept_in_memory(temporary: Path, store: MemoryStore) -> None:
    size = 32 << 20
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.path is not None
        (d.path / "engine").write_bytes(bytes(size))
    tracemalloc.start()
    try:
        with bridge.directory(Copying(store), "fake", scope="v1") as d:
            gc.collect()
            assert d.stats.restored_bytes == size
            assert tracemalloc.get_traced_memory()[0] < size / 4
    finally:
        tracemalloc.stop()


def test_where_it_fails_without_the_entry_too_the_entry_stays(temporary: Path, store: MemoryStore) -> None:
    seed(store, b"good")
    calls = []

    def make(d: BridgedDirectory) -> None:
        assert d.path is not None
        calls.append(sorted(path.name for path in d.path.iterdir()))
        raise ValueError(f"no model, {len(calls)}")

    with pytest.raises(ValueError, match="no model, 2") as raised, bridge.directory(store, "fake", scope="v1") as d:
        d.session(make)
    assert str(raised.value.__cause__) == "no model, 1"
    assert calls == [["engine"], []]
    with bridge.directory(store, "fake", scope="v1") as d:
        assert d.session(Fake).warm


@pytest.mark.parametrize("error", [RuntimeError("no memory on the device"), KeyboardInterrupt()])
def test_what_a_session_that_could_not_be_made_left_is_not_stored(
    temporary: Path, store: MemoryStore, error: BaseException, caplog: pytest.LogCaptureFixture
) -> None:
    seed(store, b"good")

    def make(d: BridgedDirectory) -> None:
        assert d.path is not None
        (d.path / "engine").write_bytes(b"half")
        raise error

    with bridge.directory(store, "fake", scope="v1") as d:
        with pytest.raises(type(error)):
            d.session(make)
        assert not d.save()  # and goes on, on another provider
    assert d.stats.saved_files == 0 and "nothing is stored" in caplog.text
    with bridge.directory(store, "fake", scope="v1") as d:
        with pytest.raises(type(error)):
            d.session(make)
        assert d.path is not None
        (d.path / "engine").write_bytes(b"good")
        (d.path / "more").write_bytes(b"good")
        assert d.session(Fake).warm
    assert d.stats.saved_files == 2


def test_a_failure_where_nothing_was_restored_is_raised_at_once(temporary: Path, store: MemoryStore) -> None:
    calls = []

    def make(d: BridgedDirectory) -> None:
        calls.append(d)
        raise ValueError

    with pytest.raises(ValueError), bridge.directory(store, "fake", scope="v1") as d:
        d.session(make)
    assert calls == [d]


def test_in_a_read_only_directory_a_bad_entry_stays_and_the_session_is_made(
    temporary: Path, store: MemoryStore
) -> None:
    seed(store, b"bad")
    with bridge.directory(store, "fake", scope="v1", mode="r") as d:
        assert not d.session(Fake).warm
    assert d.stats.quarantined == 0 and d.stats.misses == 1
    with bridge.directory(store, "fake", scope="v1", mode="r") as d:
        assert d.stats.hits == 1


def test_an_entry_that_was_replaced_meanwhile_is_not_moved_aside(temporary: Path, store: MemoryStore) -> None:
    seed(store, b"bad")

    def make(d: BridgedDirectory) -> Fake:
        session = Fake(d)
        seed(store, b"good")
        return session

    with bridge.directory(store, "fake", scope="v1") as d:
        d.session(make)
    assert d.stats.quarantined == 0
    assert not any(".unusable." in key for key in store.keys())  # noqa: SIM118


def test_a_silent_fallback_to_other_providers_is_an_error(
    temporary: Path, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = ModuleType("fakeruntime")
    module.__version__ = "1.22.0"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "fakeruntime", module)
    monkeypatch.setattr(Fake, "__module__", "fakeruntime.session")
    said = f"{EP} is not among the providers of the session, which are CPUExecutionProvider. ONNX Runtime 1.22.0"
    with pytest.raises(EpCacheError, match=said), bridge.directory(store, "fake", scope="v1") as d:
        bridge.options_for(EP, d)
        d.session(lambda d: Fake(d, ("CPUExecutionProvider",)))
    with pytest.raises(EpCacheError, match=said), bridge.directory(store, "fake", scope="v1") as d:
        session = Fake(d, ("CPUExecutionProvider",))
        d.check(session)  # nothing was asked about yet
        bridge.options_for(EP, d)
        d.check(session)


def test_a_fallback_because_of_the_entry_is_made_good_without_it(temporary: Path, store: MemoryStore) -> None:
    """The official module goes on with other providers where one raises."""
    seed(store, b"bad")

    def make(d: BridgedDirectory) -> Fake:
        bridge.options_for(EP, d)
        try:
            return Fake(d)
        except RuntimeError:
            assert d.path is not None
            (d.path / "engine").write_bytes(b"good")
            return Fake(d, ("CPUExecutionProvider",))

    with bridge.directory(store, "fake", scope="v1") as d:
        assert EP in d.session(make).get_providers()
    assert d.stats.quarantined == 1


def test_sessions_of_this_package_are_checked_too(temporary: Path, store: MemoryStore) -> None:
    native = SimpleNamespace(version="1.32.0")
    good = SimpleNamespace(ep_cache_support=lambda: {EP: 0}, native=native)
    with pytest.warns(RuntimeWarning, match=f"{EP} left no file"), bridge.directory(store, "fake", scope="v1") as d:
        bridge.options_for(EP, d)
        d.check(good)
        with pytest.raises(EpCacheError, match=r"are none\. ONNX Runtime 1\.32\.0"):
            d.check(SimpleNamespace(ep_cache_support=dict, native=native))
        with pytest.raises(oc.InputError, match="is no session"):
            d.check(object())


CRASHING = """
import os, signal, sys
from ortcache import bridge
from ortcache.stores import DirectoryStore
store, root, name, how = DirectoryStore(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
def make(d):
    engine = d.path / "engine"
    if not engine.exists():
        engine.write_bytes(b"built")
        return "built"
    if how == "crash" and engine.read_bytes() == b"bad":
        os.kill(os.getpid(), signal.SIGSEGV)
    return "loaded"
d = bridge.directory(store, name, scope="v1", root=root, mode=sys.argv[5] if sys.argv[5:] else "rw")
print(d.stats.hits, d.session(make), d.stats.quarantined)
if how == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
d.close()
"""


def test_an_entry_whose_loading_ends_the_process_is_not_loaded_again(tmp_path: Path) -> None:
    from ortcache.stores import DirectoryStore

    root = tmp_path / "root"
    root.mkdir()
    store = DirectoryStore(tmp_path / "store")
    for name in ("fake", "other"):
        with bridge.directory(store, name, scope="v1", root=root) as d:
            assert d.path is not None
            (d.path / "engine").write_bytes(b"bad")
    run_python(CRASHING, tmp_path / "store", root, "fake", "crash", status=-11)
    assert len(list(root.iterdir())) == 1
    # What another entry's process sweeps is remembered for the one that it is about.
    assert run_python(CRASHING, tmp_path / "store", root, "other", "well") == "1 loaded 0\n"
    for _ in range(2):  # who may only read cannot move it aside, and goes on without
        assert run_python(CRASHING, tmp_path / "store", root, "fake", "crash", "r", quiet=False) == "0 built 0\n"
    assert run_python(CRASHING, tmp_path / "store", root, "fake", "crash", quiet=False) == "0 built 1\n"
    assert run_python(CRASHING, tmp_path / "store", root, "fake", "crash") == "1 loaded 0\n"
    assert list(root.iterdir()) == []


def test_a_process_that_is_killed_later_says_nothing_against_its_entry(tmp_path: Path) -> None:
    from ortcache.stores import DirectoryStore

    root = tmp_path / "root"
    root.mkdir()
    store = DirectoryStore(tmp_path / "store")
    with bridge.directory(store, "fake", scope="v1", root=root) as d:
        assert d.path is not None
        (d.path / "engine").write_bytes(b"good")
    run_python(CRASHING, tmp_path / "store", root, "fake", "killed", status=-9)
    assert run_python(CRASHING, tmp_path / "store", root, "fake", "well") == "1 loaded 0\n"
    assert list(root.iterdir()) == []
