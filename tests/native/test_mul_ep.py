"""A compiled plugin EP on stock ORT, with the host between the two."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ortcache import raw
from ortcache.errors import EpCacheError, InputError
from ortcache.host.interpose import slot_count
from ortcache.runtime import Runtime, load
from ortcache.support import CacheSupport

from .build import build_plugin

NAME = "CMulExecutionProvider"
PLAN = b"C-MUL-PLAN 1\n"
KEY = "c-mul.plan"
BOTH = CacheSupport.READ | CacheSupport.WRITE
X = np.arange(6, dtype=np.float32).reshape(3, 2)

Register = Callable[..., Any]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("native")


@pytest.fixture(scope="module")
def runtime(library: Path) -> Iterator[Runtime]:
    with load(library) as loaded:
        yield loaded


@pytest.fixture
def register(runtime: Runtime, folder: Path) -> Iterator[Register]:
    names: list[str] = []

    def register(**how: Any) -> Any:
        file = build_plugin(folder, **how)
        names.append(f"plugin {len(names)}")
        return runtime.register_ep_library(names[-1], file)

    yield register
    gc.collect()
    for name in names:
        runtime.unregister_ep_library(name)


def session(runtime: Runtime, model: Path, devices: Any, **cache: Any) -> Any:
    options = runtime.session_options()
    if cache:
        options.set_ep_cache(**cache)
    options.append_ep(devices)
    return runtime.session(model, options)


def with_functions(runtime: Runtime) -> int:
    """The version that the plugin asks for, where it finds functions by name."""
    version = min(runtime.api_version, 29)
    if version < 28:
        pytest.skip("this ONNX Runtime finds no function by name: 1.28 and later do")
    return version


def test_it_stores_its_plan_and_finds_it_again(runtime: Runtime, register: Register, mul_model: Path) -> None:
    devices = register(callbacks=True, ask=with_functions(runtime))
    store: dict[str, bytes] = {}
    cold = session(runtime, mul_model, devices, cache=store)
    assert store == {KEY: PLAN}
    assert cold.ep_cache_support() == {NAME: BOTH}
    assert (cold.ep_cache_stats().misses, cold.ep_cache_stats().writes) == (1, 1)
    warm = session(runtime, mul_model, devices, cache=store)
    assert (warm.ep_cache_stats().hits, warm.ep_cache_stats().writes) == (1, 0)
    for one in (cold, warm):
        np.testing.assert_array_equal(one.run({"X": X})[0], runtime.session(mul_model).run({"X": X})[0])
        one.close()


@pytest.mark.parametrize("damaged", [PLAN[:-1], PLAN + b"x", b"C-MUL-PLAN 2\n", b"\0"])
def test_a_plan_that_is_not_its_own_is_rewritten(
    runtime: Runtime, register: Register, mul_model: Path, damaged: bytes
) -> None:
    devices = register(callbacks=True, ask=with_functions(runtime))
    store = {KEY: damaged}
    session(runtime, mul_model, devices, cache=store).close()
    assert store == {KEY: PLAN}


def test_failing_functions_do_not_break_the_session(
    runtime: Runtime, register: Register, mul_model: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*args: Any) -> None:
        raise OSError("no space left")

    devices = register(callbacks=True, ask=with_functions(runtime))
    one = session(runtime, mul_model, devices, read=fail, write=fail)
    assert one.run({"X": X})[0].shape == (3, 2)
    assert (one.ep_cache_stats().read_errors, one.ep_cache_stats().write_errors) == (1, 1)
    assert any("OSError: no space left" in r.message for r in caplog.records if r.name == "onnxruntime")
    one.close()


def test_one_direction_only(runtime: Runtime, register: Register, mul_model: Path) -> None:
    devices = register(callbacks=True, ask=with_functions(runtime))
    written: dict[str, bytes] = {}
    one = session(runtime, mul_model, devices, write=lambda key, value: written.update({key: bytes(value)}))
    assert written == {KEY: PLAN}
    one.close()
    two = session(runtime, mul_model, devices, read=written.get)
    assert two.ep_cache_stats().hits == 1
    two.close()


def test_strict_accepts_it_and_raises_what_fails(runtime: Runtime, register: Register, mul_model: Path) -> None:
    devices = register(callbacks=True, ask=with_functions(runtime))
    session(runtime, mul_model, devices, cache={}, strict=True).close()

    def fail(key: str) -> None:
        raise OSError("gone")

    with pytest.raises(EpCacheError, match="gone") as caught:
        session(runtime, mul_model, devices, read=fail, strict=True)
    assert isinstance(caught.value.__cause__, OSError)


def test_without_a_cache_it_runs_without(runtime: Runtime, register: Register, mul_model: Path) -> None:
    devices = register(callbacks=True, ask=with_functions(runtime))
    one = session(runtime, mul_model, devices)
    assert one.run({"X": X})[0].shape == (3, 2)
    assert one.ep_cache_support() == {NAME: BOTH}
    one.close()


@pytest.mark.parametrize("ask", range(23, 33))
def test_one_that_knows_nothing_notices_nothing(
    runtime: Runtime, register: Register, folder: Path, mul_model: Path, ask: int
) -> None:
    if ask > runtime.api_version:
        pytest.skip(f"this ONNX Runtime is older than 1.{ask}")
    devices = register(callbacks=False, ask=ask)
    with session(runtime, mul_model, devices, cache={}) as one:
        np.testing.assert_array_equal(one.run({"X": X})[0], runtime.session(mul_model).run({"X": X})[0])
        assert one.ep_cache_support() == {NAME: CacheSupport.NONE}
    # Slot by slot it was given the library's own table, but for the one that finds functions by name.
    given, real = plugin_table(build_plugin(folder, callbacks=False, ask=ask)), real_table(runtime, ask)
    different = [slot.name for slot, a, b in zip(raw.slots("OrtApi"), given, real, strict=False) if a != b]
    assert different == (["GetExperimentalFunction"] if ask >= 28 else [])


def test_strict_refuses_one_that_knows_nothing(runtime: Runtime, register: Register, mul_model: Path) -> None:
    devices = register(callbacks=False, ask=min(runtime.api_version, 29))
    with pytest.raises(EpCacheError, match=f"{NAME} does not read or write through callbacks"):
        session(runtime, mul_model, devices, cache={}, strict=True)


def test_a_library_that_is_no_plugin_is_refused(runtime: Runtime, folder: Path, library: Path) -> None:
    (folder / "text.so").write_text("no library")
    with pytest.raises(InputError, match="cannot be loaded"):
        runtime.register_ep_library("text", folder / "text.so")
    with pytest.raises(InputError, match="no plugin execution provider"):
        runtime.register_ep_library("library", library)
    with pytest.raises(InputError, match="there is no execution provider library"):
        runtime.register_ep_library("nothing", folder / "nothing.so")


def plugin_table(file: Path) -> Any:
    """The slots of the table that a plugin was given."""
    plugin = ctypes.CDLL(str(file))
    plugin.GivenApi.restype = ctypes.c_void_p
    address = plugin.GivenApi()
    assert address
    return (ctypes.c_void_p * slot_count(plugin.AskedVersion())).from_address(address)


def real_table(runtime: Runtime, version: int) -> Any:
    base = ctypes.cast(runtime.native.base, ctypes.POINTER(raw.OrtApiBase)).contents
    address = ctypes.cast(base.GetApi(version), ctypes.c_void_p).value
    assert address
    return (ctypes.c_void_p * slot_count(version)).from_address(address)
