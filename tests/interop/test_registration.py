"""Registering providers in the official module and taking them out again."""

from __future__ import annotations

from pathlib import Path

from ..support.official import official_python


def test_devices_come_and_go_with_the_registration() -> None:
    code = """
devices = interop.register_ep(MulEp, PlainMul, name="both")
assert all(type(device) is ort.OrtEpDevice for device in devices)
assert sorted(device.ep_name for device in devices) == ["MulExecutionProvider", "PlainMul"]
assert sorted(device.ep_name for device in ort.get_ep_devices())[1:] == ["MulExecutionProvider", "PlainMul"]
again = interop.register_ep(MulEp, name="again")  # a second registration offers a device of its own
assert len(again) == 1 and again[0] not in devices
interop.unregister_ep_library("both")
assert [device.ep_name for device in ort.get_ep_devices()][1:] == ["MulExecutionProvider"]
interop.unregister_ep_library("again")
assert [device.ep_name for device in ort.get_ep_devices()] == ["CPUExecutionProvider"]
"""
    official_python(code)


def test_a_name_that_is_taken_is_refused_and_leaves_the_first_alone() -> None:
    code = """
devices, files = interop.register_ep(MulEp, name="mine"), descriptors()
error = raised(oc.OrtError, interop.register_ep, PlainMul, name="mine")
assert "already registered under mine" in error.message and error.function == "RegisterExecutionProviderLibrary"
assert descriptors() == files
assert right(ort.InferenceSession(MODEL, options_for(devices)))
"""
    official_python(code)


def test_what_a_provider_raises_while_it_is_registered_is_the_cause() -> None:
    code = """
def fail(*args):
    raise RuntimeError("not today")
broken = make_ep(name="Broken", supports=staticmethod(fail))
logging.disable()
before = structs(), descriptors()
try:
    assert interop.register_ep(broken) == []  # ORT may go on without its devices
    interop.unregister_ep_library("Broken")
except oc.OrtError as error:
    assert "not today" in error.message and isinstance(error.__cause__, RuntimeError)
gc.collect()
assert (structs(), descriptors()) == before
"""
    official_python(code)


def test_a_library_in_use_is_not_unregistered(compiled: Path) -> None:
    code = """
python = ort.InferenceSession(MODEL, options_for(interop.register_ep(MulEp)))
native = interop.session(MODEL, options_for(interop.register_ep_library("compiled", sys.argv[1])))
for name in (NAME, "compiled"):
    assert "is in use" in str(raised(oc.OrtcacheError, interop.unregister_ep_library, name))
assert right(python) and right(native)
del python, native
for name in (NAME, "compiled"):
    interop.unregister_ep_library(name)
"""
    official_python(code, compiled)


def test_what_the_module_itself_unregistered_is_registered_again() -> None:
    code = """
interop.register_ep(MulEp)
before = structs(), descriptors()
for _ in range(3):
    ort.unregister_execution_provider_library(NAME)
    devices = interop.register_ep(MulEp)
assert (structs(), descriptors()) == before
assert right(ort.InferenceSession(MODEL, options_for(devices)))
"""
    official_python(code)


def test_registering_over_and_over_leaves_nothing(compiled: Path) -> None:
    code = """
def once():
    store = {}
    for devices in (interop.register_ep(MulEp), interop.register_ep_library("compiled", sys.argv[1])):
        for make in (ort.InferenceSession, interop.session):
            assert right(make(MODEL, options_for(devices, store)))
    assert len(store) == 3
    interop.unregister_ep_library(NAME)
    interop.unregister_ep_library("compiled")
for _ in range(10):
    once()
before = descriptors(), structs(), tuples(), resident()
for _ in range(40):
    once()
assert (descriptors(), structs(), tuples()) == before[:3]
assert resident() - before[3] < 2 << 20, resident() - before[3]
"""
    official_python(code, compiled)


def test_a_library_that_is_no_plugin_is_refused(tmp_path: Path, library: Path) -> None:
    (tmp_path / "text.so").write_text("no library")
    code = """
files = descriptors()
raised(oc.InputError, interop.register_ep_library, "text", sys.argv[1])
assert "no plugin" in str(raised(oc.InputError, interop.register_ep_library, "library", sys.argv[2]))
assert descriptors() == files
"""
    official_python(code, tmp_path / "text.so", library)
