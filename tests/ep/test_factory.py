"""What ORT is told of an execution provider's class, and what the class is told of devices and options."""

from __future__ import annotations

import logging
from types import SimpleNamespace
from typing import Any

import pytest

from ortcache import raw
from ortcache.api.device import EpDevice, HardwareDevice
from ortcache.ep import Ep, EpContext, MulEp, instances, python_plugin
from ortcache.ep.factory import Factory
from ortcache.errors import HostError, InputError, OrtError
from ortcache.runtime import Runtime

from ..support.ep_classes import PlainMul, ep_session, make_ep, registered
from ..support.ep_models import squares_model


def test_onnx_runtime_shows_the_name_vendor_and_version(rt: Runtime) -> None:
    with registered(rt, PlainMul) as devices:
        (device,) = devices
        assert isinstance(device, EpDevice) and device in rt.ep_devices()
        assert (device.ep_name, device.ep_vendor) == ("PlainMul", "tests")
        assert device.ep_metadata["version"] == "1.2.3"
        assert device.device.type == raw.OrtHardwareDeviceType.OrtHardwareDeviceType_CPU
    assert "PlainMul" not in {device.ep_name for device in rt.ep_devices()}


def test_the_vendor_id_and_struct_version_are_filled_in(rt: Runtime) -> None:
    factory = Factory(rt.native, PlainMul)
    try:
        struct = raw.OrtEpFactory.from_address(factory.address)
        expected = min(rt.native.library_api_version, raw.HEADERS_API_VERSION)
        assert struct.ort_version_supported == expected >= 23
        assert struct.GetVendorId(struct) == 0xBEEF
        assert not struct.ValidateCompiledModelCompatibilityInfo  # optional: NULL
        assert not struct.IsStreamAware(struct)
    finally:
        factory.close()


def test_several_classes_are_one_library(rt: Runtime) -> None:
    classes = [make_ep(), make_ep(), make_ep()]
    with registered(rt, *classes) as devices:
        assert [device.ep_name for device in devices] == [ep.name for ep in classes]
        with ep_session(rt, devices[1:2], squares_model()):
            assert [type(ep) for ep in instances()] == [classes[1]]


def test_more_classes_than_onnx_runtime_takes_are_refused(rt: Runtime) -> None:
    classes = [make_ep() for _ in range(50)]
    with pytest.raises(OrtError, match=r"50 execution providers in one library: ORT takes [0-9]+") as caught:
        rt.register_ep(*classes)
    assert isinstance(caught.value.__cause__, InputError)


def test_supports_sees_each_device_and_its_answer_is_shown(rt: Runtime) -> None:
    seen: list[HardwareDevice] = []

    def supports(cls: type[Ep], device: HardwareDevice) -> Any:
        seen.append(device)
        is_cpu = device.type == raw.OrtHardwareDeviceType.OrtHardwareDeviceType_CPU
        return ({"cores": "many", "ä": "ö"}, {"default": "1"}) if is_cpu else None

    contexts: list[EpContext] = []
    ep = make_ep(supports=classmethod(supports), __init__=lambda self, context: contexts.append(context))
    with registered(rt, ep) as devices:
        (device,) = devices
        assert device.ep_metadata["cores"] == "many" and device.ep_metadata["ä"] == "ö"
        assert device.ep_options == {"default": "1"}
        assert device.device in seen
        with ep_session(rt, devices, squares_model(), {"own": "2"}):
            (context,) = contexts
            assert context.devices == (device.device,)
            assert [dict(entries) for entries in context.metadata] == [device.ep_metadata]
            assert context.options == {"default": "1", "own": "2"}


def test_an_execution_provider_may_support_no_device(rt: Runtime) -> None:
    with registered(rt, make_ep(supports=classmethod(lambda cls, device: None))) as devices:
        assert devices == []


def test_the_context_has_options_and_config_entries(rt: Runtime) -> None:
    contexts: list[EpContext] = []

    def init(self: Any, context: EpContext) -> None:
        contexts.append(context)
        PlainMul.__init__(self, context)

    ep = make_ep(name="Mixed.Case-Ep", __init__=init)
    with registered(rt, ep) as devices:
        options = {"Key": "value", "empty": "", "a.b": "c d=é", "number": 3}
        with ep_session(rt, devices, squares_model(), options, config={"session.x": "1", "ep.other.y": "2"}):
            (context,) = contexts
            assert context.options == {"Key": "value", "empty": "", "a.b": "c d=é", "number": "3"}
            assert context.config["session.x"] == "1" and context.config["ep.other.y"] == "2"
            assert context.native.version == rt.version
            assert instances(ep)[0].context is context


def test_each_session_has_an_instance_of_its_own(rt: Runtime) -> None:
    ep = make_ep()
    with registered(rt, ep) as devices, ep_session(rt, devices, squares_model(), {"n": 1}):
        with ep_session(rt, devices, squares_model(), {"n": 2}):
            assert sorted(one.context.options["n"] for one in instances(ep)) == ["1", "2"]
            assert len({id(one) for one in instances(ep)}) == 2
        assert [one.context.options["n"] for one in instances(ep)] == ["1"]


def test_two_execution_providers_share_a_session(rt: Runtime) -> None:
    first = make_ep(get_capability=lambda self, graph: [node for node in graph.nodes if node.name == "square"])
    second = make_ep(get_capability=lambda self, graph: [node for node in graph.nodes if node.name == "weigh"])
    names: dict[str, list[str]] = {}

    def compile(self: Any, graph: Any, node: Any) -> Any:
        names.setdefault(type(self).name, []).append(graph.nodes[0].name)
        return lambda context: context.set_output(0, context.input(0) * context.inputs[-1])

    for ep in (first, second):
        ep.compile = compile  # type: ignore[method-assign]
    with registered(rt, first) as one, registered(rt, second) as two:
        with rt.session_options() as options:
            options.append_ep(one)
            options.append_ep(two)
            with rt.session(squares_model(), options) as session:
                assert session.run({"X": [[1, 2]]})[0].tolist() == [[10, 160]]
    assert names == {first.name: ["square"], second.name: ["weigh"]}


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"name": ""}, "name is empty"),
        ({"name": "a\0b"}, "NUL"),
        ({"vendor": ""}, "vendor is empty"),
        ({"version": "1"}, r"version is '1': give major\.minor\.patch"),
        ({"version": "1.0.0\n"}, "give major"),
        ({"vendor_id": -1}, "vendor_id is -1: give a number of 32 bits"),
        ({"vendor_id": 1 << 32}, "vendor_id is 4294967296"),
        ({"vendor_id": "0x1"}, "vendor_id is '0x1'"),
    ],
)
def test_a_class_that_cannot_be_is_refused_before_onnx_runtime_sees_it(members: dict[str, Any], said: str) -> None:
    ep = type("Wrong", (PlainMul,), members)
    with pytest.raises(InputError, match=said):
        python_plugin(ep)


@pytest.mark.parametrize("wrong", [3, "MulEp", object, MulEp.__init__, None])
def test_what_is_no_execution_provider_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"made of subclasses of ortcache\.ep\.Ep"):
        python_plugin(wrong)
    with pytest.raises(TypeError, match="at least one"):
        python_plugin()
    with pytest.raises(InputError, match="two execution providers of one name"):
        python_plugin(PlainMul, PlainMul)
    with pytest.raises(TypeError, match=r"\.name must be a str, not int"):
        python_plugin(type("Numbered", (PlainMul,), {"name": 3}))


def test_a_library_that_is_too_old_is_refused_before_it_gets_a_factory() -> None:
    old: Any = SimpleNamespace(library_api_version=22, description="ONNX Runtime 1.22.1")
    with pytest.raises(HostError, match=r"need ONNX Runtime 1\.23 or later, and the loaded library is .* 1\.22\.1"):
        Factory(old, PlainMul)


def test_a_plugin_serves_one_registration(rt: Runtime) -> None:
    library = python_plugin(make_ep())
    rt.api.RegisterExecutionProviderLibrary(rt.env, b"first", library.path.encode())
    library.loaded()
    try:
        with pytest.raises(OrtError, match="registered already: make one for each registration"):
            rt.api.RegisterExecutionProviderLibrary(rt.env, b"second", library.path.encode())
    finally:
        rt.api.UnregisterExecutionProviderLibrary(rt.env, b"first")
        library.close()


def test_unknown_support_bits_fail_the_session(rt: Runtime) -> None:
    closed: list[Any] = []
    ep = make_ep(cache_support=4 | 1, close=lambda self: closed.append(self))
    with pytest.raises(OrtError, match="flags 0x5; the bits 0x4 are not known") as caught:
        with ep_session(rt, ep, squares_model()):
            pass
    assert isinstance(caught.value.__cause__, InputError)
    assert [type(instance) for instance in closed] == [ep]


@pytest.mark.parametrize("wrong", ["READ", None, 1.0])
def test_support_that_is_no_flag_fails_the_session(rt: Runtime, wrong: Any) -> None:
    with pytest.raises(OrtError, match="cache_support must be a CacheSupport, not"):
        with ep_session(rt, make_ep(cache_support=wrong), squares_model()):
            pass


def test_the_log_of_a_session_that_is_made_says_nothing_wrong(rt: Runtime, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), ep_session(rt, PlainMul, squares_model()):
        pass
    assert [record.getMessage() for record in caplog.records if "PlainMul" in record.getMessage()] == []
