"""Execution providers that the library was built with, by name; and letting ORT or a function select devices."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api import providers


def test_the_official_modules_providers_are_there(rt: oc.Runtime) -> None:
    assert rt.providers()[-1] == "CPUExecutionProvider"
    assert all(name.endswith("ExecutionProvider") for name in rt.providers())


@pytest.mark.parametrize("name", ["CPUExecutionProvider", "CPU", "cpu"])
def test_the_cpu_provider_can_be_appended_with_every_library(
    rt: oc.Runtime, mul_model: Path, x: Any, name: str
) -> None:
    options = rt.session_options()
    options.append_provider(name)
    with rt.session(mul_model, options) as session:
        assert session.run({"X": x})[0].sum() == 21


def test_where_the_general_function_does_not_take_the_cpu_the_exported_one_does(
    rt: oc.Runtime, mul_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(providers, "_GENERAL_TAKES_CPU", 1000)
    options = rt.session_options()
    options.append_provider("CPU")
    rt.session(mul_model, options).close()
    with pytest.raises(oc.InputError, match="CPUExecutionProvider takes no options"):
        options.append_provider("CPU", {"use_arena": 0})
    with pytest.raises(oc.OrtError, match="OrtSessionOptionsAppendExecutionProvider_CPU"):
        raise rt.native.statuses.error(rt.api.CreateStatus(1, b"x"), "OrtSessionOptionsAppendExecutionProvider_CPU")


@pytest.mark.parametrize("name", ["AzureExecutionProvider", "azure"])
def test_a_provider_of_this_build_is_appended_by_full_and_by_short_name(
    rt: oc.Runtime, mul_model: Path, name: str
) -> None:
    if "AzureExecutionProvider" not in rt.providers():
        with pytest.raises(oc.InputError):
            rt.session_options().append_provider(name)
        return
    options = rt.session_options()
    options.append_provider(name, {"any": "option"})
    rt.session(mul_model, options).close()


@pytest.mark.parametrize("name", ["NoSuchExecutionProvider", "QNN", "TensorRT", "MIGraphX", "", "ExecutionProvider"])
def test_a_provider_that_is_not_in_this_build_is_an_error_that_lists_those_that_are(rt: oc.Runtime, name: str) -> None:
    with pytest.raises(oc.InputError) as raised:
        rt.session_options().append_provider(name)
    message = str(raised.value)
    assert repr(name) in message and rt.version in message
    assert ", ".join(rt.providers()) in message and "append_ep(devices)" in message


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((5,), TypeError),
        ((None,), TypeError),
        (("CPU", {"a": None}), TypeError),
        (("CPU", {"a\0": "x"}), oc.InputError),
    ],
)
def test_what_is_no_name_or_option_is_refused(rt: oc.Runtime, arguments: Any, error: Any) -> None:
    with pytest.raises(error):
        rt.session_options().append_provider(*arguments)


class _Recorder:
    """Stands for OrtApi where a library would need a device that no test machine has."""

    def __init__(self, fail: str = "") -> None:
        self.calls: list[str] = []
        self.options: dict[str, str] = {}
        self._fail = fail

    def __getattr__(self, name: str) -> Any:
        def call(*args: Any) -> None:
            self.calls.append(name)
            if len(args) >= 3 and isinstance(args[-1], int):
                keys, values, count = args[-3:]
                self.options = {keys[i].decode(): values[i].decode() for i in range(count)}
            if name == self._fail:
                raise oc.OrtError(raw.OrtErrorCode.ORT_FAIL, "refused", name)

        return call


def _append(monkeypatch: pytest.MonkeyPatch, name: str, settings: Any, version: int = 32, fail: str = "") -> _Recorder:
    monkeypatch.setattr(providers, "available_providers", lambda native: [f"{name}ExecutionProvider"])
    api = _Recorder(fail)
    native = SimpleNamespace(api=api, library_api_version=version, description="a library", choice=None)
    try:
        providers.append_provider(native, "options", name.upper(), settings)  # type: ignore[arg-type]
    except oc.OrtError as error:
        assert fail and f"{name}ExecutionProvider of a library with the options {settings}" in error.__notes__[0]
    return api


@pytest.mark.parametrize(
    ("name", "kind", "append"),
    [("CUDA", "CUDA", "CUDA_V2"), ("Tensorrt", "TensorRT", "TensorRT_V2"), ("ROCM", "ROCM", "ROCM"),
     ("CANN", "CANN", "CANN"), ("Dnnl", "Dnnl", "Dnnl")],
)  # fmt: skip
@pytest.mark.parametrize("fails", [False, True])
def test_a_provider_with_an_options_object_gets_it_and_it_is_released(
    monkeypatch: pytest.MonkeyPatch, name: str, kind: str, append: str, fails: bool
) -> None:
    update = f"Update{kind}ProviderOptions"
    api = _append(monkeypatch, name, {"device_id": 1, "flag": True}, fail=update if fails else "")
    middle = [] if fails else [f"SessionOptionsAppendExecutionProvider_{append}"]
    assert api.calls == [f"Create{kind}ProviderOptions", update, *middle, f"Release{kind}ProviderOptions"]
    assert api.options == {"device_id": "1", "flag": "1"}
    for call in api.calls:
        assert any(slot.name == call for slot in raw.slots("OrtApi"))


@pytest.mark.parametrize(
    ("name", "version", "call"),
    [("OpenVINO", 32, "OpenVINO_V2"), ("VitisAI", 32, "VitisAI"), ("MIGraphX", 22, "MIGraphX"), ("MIGraphX", 23, ""),
     ("QNN", 20, ""), ("CoreML", 32, ""), ("CPU", 27, "")],
)  # fmt: skip
def test_a_provider_with_a_function_of_its_own_is_appended_by_it(
    monkeypatch: pytest.MonkeyPatch, name: str, version: int, call: str
) -> None:
    api = _append(monkeypatch, name, {}, version)
    assert api.calls == ["SessionOptionsAppendExecutionProvider" + (f"_{call}" if call else "")]


def test_the_plain_struct_of_migraphx_is_filled_by_field() -> None:
    options = {"device_id": "2", "migraphx_fp16_enable": True, "migraphx_save_model_path": "a ü"}
    struct = providers._migraphx(options)
    assert (struct.device_id, struct.migraphx_fp16_enable) == (2, 1)
    assert struct.migraphx_save_model_path == "a ü".encode()
    with pytest.raises(oc.InputError, match="MIGraphXExecutionProvider has no option 'fp16'; it has device_id, "):
        providers._migraphx({"fp16": 1})


def test_a_provider_without_its_library_is_appended_by_address_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(oc.InputError, match="appends CPUExecutionProvider by itself"):
        _append(monkeypatch, "CPU", {}, 26)


# Selecting devices.


@pytest.mark.parametrize("policy", ["prefer_cpu", "PREFER_CPU", 1, "default", "max_efficiency"])
def test_a_policy_selects_a_device_that_is_there(rt: oc.Runtime, mul_model: Path, x: Any, policy: Any) -> None:
    options = rt.session_options()
    options.set_provider_selection_policy(policy)
    with rt.session(mul_model, options.clone()) as session:
        assert session.run({"X": x})[0].sum() == 21


def test_where_there_is_no_device_to_select_the_library_is_not_asked(
    rt: oc.Runtime, mul_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = rt.session_options()
    options.set_provider_selection_policy("min_overall_power")
    monkeypatch.setattr("ortcache.api.options.ep_devices", lambda env: [])
    for use in (lambda: rt.session(mul_model, options), lambda: rt.compile_model(mul_model, options)):
        with pytest.raises(oc.InputError, match="no execution provider offers one: register a library first"):
            use()


@pytest.mark.parametrize("policy", [7, -1, "fastest"])
def test_a_policy_that_is_none_names_those_that_are(rt: oc.Runtime, policy: Any) -> None:
    with pytest.raises(oc.InputError, match=r"(?i)policy .* is not one of .*prefer_gpu"):
        rt.session_options().set_provider_selection_policy(policy)


def test_a_function_selects_the_devices(rt: oc.Runtime, mul_model: Path, x: Any) -> None:
    seen: list[Any] = []

    def select(devices: Sequence[oc.EpDevice], model: Mapping[str, str], runtime: Mapping[str, str], most: int) -> Any:
        seen.append((devices, model, runtime, most))
        return [device for device in devices if device.ep_name == "CPUExecutionProvider"]

    options = rt.session_options()
    options.set_provider_selection_policy_delegate(select)
    clone = options.clone()
    options.close()
    del options
    gc.collect()
    with rt.session(mul_model, clone) as session:
        assert session.run({"X": x})[0].sum() == 21
    ((devices, model, runtime, most),) = seen
    assert set(devices) == set(rt.ep_devices()) and most >= 1
    assert isinstance(model, dict) and isinstance(runtime, dict)


@pytest.mark.parametrize(
    ("select", "cause"),
    [
        (lambda *_: 1 / 0, ZeroDivisionError),
        (lambda: None, TypeError),
        (lambda *_: None, TypeError),
        (lambda *_: ["cpu"], oc.InputError),
        (lambda devices, model, runtime, most: list(devices) * (most + 1), oc.InputError),
    ],
)
def test_a_selection_that_fails_is_the_cause(rt: oc.Runtime, mul_model: Path, select: Any, cause: type) -> None:
    options = rt.session_options()
    options.set_provider_selection_policy_delegate(select)
    with pytest.raises(oc.OrtError) as raised:
        rt.session(mul_model, options)
    assert isinstance(raised.value.__cause__, cause)


def test_a_selecting_function_is_let_go_with_its_options(rt: oc.Runtime, mul_model: Path) -> None:
    class Selects:
        def __call__(self, devices: Any, *_: Any) -> Any:
            return devices[:1]

    function = Selects()
    dead = weakref.ref(function)
    options = rt.session_options()
    options.set_provider_selection_policy_delegate(function)
    del function
    session = rt.session(mul_model, options)
    assert dead() is not None
    options.close()
    del options
    gc.collect()
    assert dead() is None
    session.close()


def test_what_is_no_function_cannot_select(rt: oc.Runtime) -> None:
    with pytest.raises(TypeError, match="what selects devices must be a function, not str"):
        rt.session_options().set_provider_selection_policy_delegate("prefer_cpu")  # type: ignore[arg-type]
