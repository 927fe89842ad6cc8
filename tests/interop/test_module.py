"""Which onnxruntime module will do, and what is said of one that will not."""

from __future__ import annotations

import pytest

from ..support.official import official_python
from ..support.process import run_python

#: A module in the official one's place; whatever touches more of it than its version fails.
PRETEND = """
import sys, types
module = sys.modules["onnxruntime"] = types.ModuleType("onnxruntime")
module.InferenceSession, module.SessionOptions = type("InferenceSession", (), {}), type("SessionOptions", (), {})
module.get_version_string = lambda: sys.argv[1]
def refuse(*args):
    raise AssertionError("it was called, and such a one crashes then")
if sys.argv[2:]:
    module.register_execution_provider_library = module.get_ep_devices = refuse
from ortcache import errors, interop
from ortcache.ep import MulEp
"""

#: Everything that needs the module.
CALLS = """
options = module.SessionOptions()
for call in (
    lambda: interop.register_ep(MulEp),
    lambda: interop.register_ep_library("x", "/nowhere"),
    lambda: interop.unregister_ep_library("x"),
    lambda: interop.attach(options, {}),
    lambda: interop.session(b"", options),
    interop.ep_cache_backend,
):
    try:
        call()
    except errors.HostError as error:
        print(error)
    else:
        raise AssertionError("it worked")
interop.attach(options)  # nothing to clear is no failure
assert interop.ep_cache_support(options) == {} and interop.ep_cache_stats(options).reads == 0
"""


def test_the_host_answers_and_the_module_is_left_as_it_was() -> None:
    code = """
before, files = [device.ep_name for device in ort.get_ep_devices()], descriptors()
assert interop.ep_cache_backend() == "host"
assert [device.ep_name for device in ort.get_ep_devices()] == before and descriptors() == files
from ortcache.interop.module import official_native
assert official_native() is official_native() and official_native().version == ort.get_version_string()
assert official_native().base != oc.load().native.base
"""
    official_python(
        code.replace("assert official_native().base", "warnings.simplefilter('ignore')\nassert official_native().base")
    )


@pytest.mark.parametrize("version", ["1.22.1", "1.19.0", "1.9.0", "0.5.1", "custom"])
def test_one_that_is_too_old_is_not_touched(version: str) -> None:
    said = run_python(PRETEND + CALLS, version, "with the function").splitlines()
    assert len(said) == 6
    for line in said:
        assert f"need 1.23 or later; the loaded one is {version}. `pip install -U onnxruntime`" in line


def test_one_without_plugins_is_refused() -> None:
    said = run_python(PRETEND + CALLS, "1.32.0").splitlines()
    assert len(said) == 6 and all("was built without plugin execution providers" in line for line in said)


@pytest.mark.parametrize(("system", "machine"), [("win32", "AMD64"), ("darwin", "arm64"), ("linux", "riscv64")])
def test_a_platform_that_is_not_covered_is_told_what_works_there(system: str, machine: str) -> None:
    code = f"""
import platform
sys.platform, platform.machine = {system!r}, lambda: {machine!r}
"""
    said = run_python(PRETEND + code + CALLS, "1.32.0", "with the function").splitlines()
    assert len(said) == 6
    for line in said:
        assert f"on {system} ({machine})" in line and "What works here" in line and "ortcache.bridge" in line


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("sys.modules['onnxruntime'] = None", "cannot be imported"),
        ("sys.modules['onnxruntime'] = types.ModuleType('onnxruntime')", "is not ONNX Runtime"),
    ],
)
def test_one_that_is_not_there_is_said(code: str, said: str) -> None:
    code = f"""
import sys, types
from ortcache import errors, interop
from ortcache.ep import MulEp
{code}
for call in (lambda: interop.register_ep(MulEp), lambda: interop.attach(None, {{}}), interop.ep_cache_backend,
             lambda: interop.ep_cache_stats(None), lambda: interop.session(b"")):
    try:
        call()
    except errors.LibraryNotFoundError as error:
        assert sys.argv[1] in str(error) and "pip install onnxruntime" in str(error), error
    else:
        raise AssertionError("it worked")
"""
    run_python(code, said)


def test_importing_it_imports_no_onnxruntime() -> None:
    run_python("import sys, ortcache.interop; assert not {'onnxruntime', 'numpy'} & set(sys.modules)")
