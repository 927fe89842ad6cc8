"""Execution providers' devices, and plugin libraries that come and go."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.runtime import load

from ..support.plugin import EP_NAME
from ..support.process import run_python


@pytest.fixture(scope="module", params=["the wrappers alone", "with the host"])
def rt(request: pytest.FixtureRequest, library: Path) -> Iterator[oc.Runtime]:
    with (load if request.param == "the wrappers alone" else oc.load)(library) as runtime:
        yield runtime  # type: ignore[misc]


@pytest.fixture
def registered(rt: oc.Runtime, plugin: Path) -> Iterator[oc.EpDevice]:
    """A device of the plugin."""
    (device,) = rt.register_ep_library("test", plugin)
    yield device
    if not device.closed:
        rt.unregister_ep_library("test")


def test_the_cpu_is_a_device(rt: oc.Runtime) -> None:
    cpu = next(device for device in rt.ep_devices() if device.ep_name == "CPUExecutionProvider")
    assert cpu.ep_vendor == "Microsoft"
    assert cpu.device.type is raw.OrtHardwareDeviceType.OrtHardwareDeviceType_CPU
    assert cpu.device.vendor_id >= 0 and isinstance(cpu.device.vendor, str)
    assert isinstance(cpu.ep_metadata, dict) and isinstance(cpu.ep_options, dict)
    assert "CPUExecutionProvider on" in repr(cpu)


def test_the_same_device_is_the_same_object(rt: oc.Runtime) -> None:
    held = rt.ep_devices()
    assert all(a is b for a, b in zip(held, rt.ep_devices(), strict=True))
    assert all(a is b for a, b in zip(held, load(rt.library).ep_devices(), strict=True))


def test_a_plugin_brings_its_devices(registered: oc.EpDevice, rt: oc.Runtime) -> None:
    assert registered in rt.ep_devices()
    assert (registered.ep_name, registered.ep_vendor) == (EP_NAME, "Test Vendör")
    assert registered.ep_metadata["kind"] == "tëst"
    assert registered.ep_options == {"level": "7"}
    assert registered.device.type == raw.OrtHardwareDeviceType.OrtHardwareDeviceType_CPU


def test_a_session_runs_with_a_plugin_appended(
    registered: oc.EpDevice, rt: oc.Runtime, mul_model: Path, x: np.ndarray
) -> None:
    options = rt.session_options()
    options.append_ep(registered, {"level": 9})
    assert options.config[f"ep.{EP_NAME.lower()}.level"] == "9"
    with rt.session(mul_model, options) as session:
        assert session.run({"X": x})[0].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_a_device_is_gone_with_its_library(registered: oc.EpDevice, rt: oc.Runtime, mul_model: Path) -> None:
    before = rt.session_options()
    before.append_ep([registered])
    clone = before.clone()
    rt.unregister_ep_library("test")
    assert registered.closed and registered not in rt.ep_devices()
    assert registered.ep_name == EP_NAME  # what it was is still told
    gone = "this device of TestExecutionProvider is gone with the library"
    for use in (
        lambda: rt.session_options().append_ep(registered),
        lambda: rt.session(mul_model, before),
        lambda: rt.session(mul_model, clone),
        lambda: rt.compile_model(mul_model, before),
        lambda: rt.api.EpDevice_EpName(registered),
    ):
        with pytest.raises(oc.ClosedError, match=gone):
            use()
    before.close()
    clone.close()


def test_a_library_that_a_session_uses_is_not_unregistered(
    registered: oc.EpDevice, rt: oc.Runtime, mul_model: Path, x: np.ndarray
) -> None:
    options = rt.session_options()
    options.append_ep(registered)
    first, second = rt.session(mul_model, options), rt.session(mul_model, options.clone())
    options.close()
    for session in (first, second):
        with pytest.raises(oc.OrtcacheError, match="library 'test' is in use: close the sessions over it first"):
            rt.unregister_ep_library("test")
        assert session.run({"X": x})[0].sum() == 21
        session.close()
    rt.unregister_ep_library("test")
    assert registered.closed


def test_a_session_over_automatically_selected_devices_keeps_every_library(
    registered: oc.EpDevice, rt: oc.Runtime, mul_model: Path
) -> None:
    options = rt.session_options()
    options.set_provider_selection_policy("prefer_cpu")
    with rt.session(mul_model, options):
        with pytest.raises(oc.OrtcacheError, match="is in use"):
            rt.unregister_ep_library("test")


def test_a_library_may_come_back(rt: oc.Runtime, plugin: Path, mul_model: Path) -> None:
    seen = []
    for _ in range(5):
        devices = rt.register_ep_library("again", plugin)
        options = rt.session_options()
        options.append_ep(devices)
        rt.session(mul_model, options).close()
        rt.unregister_ep_library("again")
        seen += devices
    assert all(device.closed for device in seen) and len(set(map(id, seen))) == 5


def test_another_runtime_over_the_same_library_sees_it_go(rt: oc.Runtime, registered: oc.EpDevice) -> None:
    other = load(rt.library)
    assert registered in other.ep_devices()
    other.unregister_ep_library("test")
    assert registered.closed


def test_one_name_holds_one_library(rt: oc.Runtime, registered: oc.EpDevice, plugin: Path) -> None:
    with pytest.raises(oc.OrtError, match="test"):
        rt.register_ep_library("test", plugin)
    assert not registered.closed and registered in rt.ep_devices()


def test_an_unknown_name_is_an_error(rt: oc.Runtime) -> None:
    with pytest.raises(oc.OrtError, match="never registered"):
        rt.unregister_ep_library("never registered")


@pytest.mark.parametrize(("name", "said"), [("", "name is empty"), ("a\0b", "NUL")])
def test_a_name_that_is_none_is_refused(rt: oc.Runtime, plugin: Path, name: str, said: str) -> None:
    with pytest.raises(oc.InputError, match=said):
        rt.register_ep_library(name, plugin)


def test_a_missing_file_is_named_with_every_place(rt: oc.Runtime) -> None:
    assert rt.library
    with pytest.raises(oc.InputError) as raised:
        rt.register_ep_library("x", "gone/ep.so")
    assert str(Path("gone/ep.so").absolute()) in str(raised.value)
    assert str(rt.library.parent / "gone/ep.so") in str(raised.value)


def test_a_relative_path_starts_at_the_working_directory(
    rt: oc.Runtime, plugin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(plugin.parent)
    assert rt.register_ep_library("relative", plugin.name)
    rt.unregister_ep_library("relative")


def test_a_library_that_is_no_plugin_is_an_error_and_leaves_nothing(rt: oc.Runtime) -> None:
    assert rt.library
    before = rt.ep_devices()
    with pytest.raises((oc.OrtError, oc.InputError), match="CreateEpFactories"):
        rt.register_ep_library("x", rt.library.parent / "libonnxruntime_providers_shared.so")
    assert rt.ep_devices() == before
    with pytest.raises(oc.OrtError):
        rt.unregister_ep_library("x")


@pytest.mark.parametrize("part", [0.05, 0.5])
def test_a_truncated_plugin_is_an_error_and_not_the_end(
    rt: oc.Runtime, plugin: Path, tmp_path: Path, part: float
) -> None:
    data = plugin.read_bytes()
    broken = tmp_path / "broken.so"
    broken.write_bytes(data[: int(len(data) * part)])
    code = """
        import sys, ortcache
        try:
            ortcache.load(log_level="fatal").register_ep_library("x", sys.argv[1])
        except (ortcache.InputError, ortcache.OrtError) as error:
            print(type(error).__name__)
    """
    assert run_python(code, broken).strip() in ("InputError", "OrtError")


def test_only_devices_are_appended(rt: oc.Runtime) -> None:
    options = rt.session_options()
    with pytest.raises(TypeError, match="append_ep takes EpDevices, not str; append_provider takes a name"):
        options.append_ep(["CPUExecutionProvider"])  # type: ignore[list-item]
    with pytest.raises(oc.InputError, match=r"no device to append: see Runtime\.ep_devices"):
        options.append_ep([])


def test_devices_of_two_providers_are_refused(rt: oc.Runtime, registered: oc.EpDevice) -> None:
    cpu = next(device for device in rt.ep_devices() if device.ep_name == "CPUExecutionProvider")
    with pytest.raises(oc.OrtError, match=r"(?i)same execution provider|same EP"):
        rt.session_options().append_ep([cpu, registered])


def test_dropped_devices_leave_nothing_behind(rt: oc.Runtime) -> None:
    record = rt.env._record
    gc.collect()
    before = record._needed
    devices = rt.ep_devices()
    assert record._needed >= before
    del devices
    gc.collect()
    assert record._needed <= before


def test_the_interpreter_exits_with_a_plugin_registered(plugin: Path, mul_model: Path) -> None:
    code = """
        import sys, ortcache
        rt = ortcache.load()
        devices = rt.register_ep_library("test", sys.argv[1])
        options = rt.session_options()
        options.append_ep(devices)
        session = rt.session(sys.argv[2], options)
        print(len(devices))
    """
    assert run_python(code, plugin, mul_model).strip() == "1"


def test_a_library_without_devices_says_since_when_there_are_some(rt: oc.Runtime, plugin: Path) -> None:
    old = load(rt.library, api_version=20)
    for use in (old.ep_devices, lambda: old.register_ep_library("x", plugin)):
        with pytest.raises(oc.UnsupportedFunctionError, match=r"since ONNX Runtime 1\.22.*API version 20"):
            use()
