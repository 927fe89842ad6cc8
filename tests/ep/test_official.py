"""The same execution providers in the official onnxruntime module, whose runtime is another than the library's."""

from __future__ import annotations

import importlib.util

import pytest

from ..support.oracles import need
from ..support.process import run_python

START = """
import gc, os, sys, threading, warnings
warnings.simplefilter("ignore", DeprecationWarning)  # that a process that forks has threads
import numpy as np
import onnxruntime as ort
import ortcache.ep as ep
from ortcache import interop
from tests.support.ep_classes import PlainMul, make_ep, multiply
from tests.support.ep_memory import descriptors, resident
from tests.support.ep_models import if_model, many_muls, mul_graph, squares_model

ort.set_default_logger_severity(3)  # it warns of nodes that are left to the CPU provider
MODEL = mul_graph(1, [2], [2], [2])
FEEDS = {"A": np.array([1, 2], np.float32), "B": np.array([3, 4], np.float32)}
X = np.array([[1, 2], [3, -4]], np.float32)

def register(*classes):
    interop.register_ep(*classes)
    return classes[0]

def unregister(ep_class):
    gc.collect()
    interop.unregister_ep_library(ep_class.name)

def devices(ep_class):
    return [device for device in ort.get_ep_devices() if device.ep_name == ep_class.name]

def options_for(ep_class, options={}, values=None):
    session_options = ort.SessionOptions()
    session_options.intra_op_num_threads = 1
    interop.attach(session_options, values)
    session_options.add_provider_for_devices(devices(ep_class), options)
    return session_options

def open_session(ep_class, model=MODEL, *args):
    return ort.InferenceSession(model, options_for(ep_class, *args))
"""


@pytest.fixture(autouse=True)
def official_module() -> None:
    need("onnxruntime", importlib.util.find_spec("onnxruntime"))
    need("linux", importlib.util.find_spec("resource"))


def test_a_model_runs_and_the_provider_is_shown() -> None:
    run_python(
        START
        + """
ep_class = register(ep.MulEp)
(device,) = devices(ep.MulEp)
assert (device.ep_name, device.ep_vendor) == ("MulExecutionProvider", "ortcache")
assert device.ep_metadata["version"] == "1.0.0"
cpu = ort.InferenceSession(squares_model())
session = open_session(ep.MulEp, squares_model(), {"compile_delay_ms": "1"})
assert session.get_providers()[0] == "MulExecutionProvider"
assert session.run(None, {"X": X})[0].tobytes() == cpu.run(None, {"X": X})[0].tobytes()
(instance,) = ep.instances()
assert instance.context.options == {"compile_delay_ms": "1"} and instance.outcomes["built"] == 3
assert instance.context.native.version == ort.__version__
del session, instance
unregister(ep_class)
assert devices(ep.MulEp) == [] and ep.instances() == []
"""
    )


def test_a_cache_is_cold_and_then_warm() -> None:
    run_python(
        START
        + """
values, ep_class = {}, register(ep.MulEp)
for expected in ({"miss": 2, "hit": 1, "built": 2, "written": 2}, {"hit": 3}, {"hit": 3}):
    options = options_for(ep.MulEp, {}, values)
    session = ort.InferenceSession(squares_model(), options)
    del options  # now the session alone holds the functions
    gc.collect()
    assert ep.instances()[0].context.cache.readable
    assert session.run(None, {"X": X})[0].tolist() == (X * X * X * [10, 20]).tolist()
    assert ep.instances()[0].outcomes == expected and len(values) == 2
    del session
for key in values:
    values[key] = values[key][:-1]
session = open_session(ep.MulEp, squares_model(), {}, values)
assert ep.instances()[0].outcomes["rejected_size"] == 2
"""
    )


@pytest.mark.parametrize("method", ["__init__", "get_capability", "compile"])
def test_what_a_method_raises_is_said(method: str) -> None:
    code = f"""
def fail(*args):
    raise ValueError("this is not possible")
ep_class = register(make_ep({method}=fail))
try:
    ort.InferenceSession(MODEL, options_for(ep_class))
except Exception as error:
    print("raised", error)
unregister(ep_class)
"""
    said = run_python(START + code, quiet=False)
    # Before 1.32 the module prints that a provider cannot be made, and goes on without it.
    assert "ValueError: this is not possible" in said and (method == "__init__" or said.startswith("raised"))


def test_what_a_kernel_raises_is_in_the_exception() -> None:
    run_python(
        START
        + """
def kernel(context):
    raise KeyboardInterrupt("stop here")
ep_class = register(make_ep(compile=lambda self, graph, node: kernel))
options = options_for(ep_class)
options.log_severity_level = 4
session = ort.InferenceSession(MODEL, options)
try:
    session.run(None, FEEDS)
except Exception as error:
    assert "KeyboardInterrupt: stop here" in str(error), error
else:
    raise AssertionError("it ran")
"""
    )


def test_both_runtimes_at_once_each_have_their_own(library: object) -> None:
    run_python(
        START
        + """
from ortcache.runtime import load
warnings.simplefilter("ignore")
rt = load(sys.argv[1])
both = register(PlainMul), rt.register_ep(PlainMul)
theirs = open_session(PlainMul)
with rt.session_options() as options:
    options.append_ep(both[1])
    ours = rt.session(MODEL, options)
assert len(ep.instances(PlainMul)) == 2
assert len({instance.context.native.base for instance in ep.instances()}) == 2
assert theirs.run(None, FEEDS)[0].tolist() == ours.run(FEEDS)[0].tolist() == [3, 8]
""",
        library,
    )


def test_many_registrations_and_sessions_are_flat() -> None:
    run_python(
        START
        + """
values = {}
def once():
    ep_class = register(ep.MulEp)
    for _ in range(3):
        session = open_session(ep.MulEp, MODEL, {}, values)
        assert session.run(None, FEEDS)[0].tolist() == [3, 8]
        del session
    unregister(ep_class)
for _ in range(20):
    once()
before = descriptors(), resident()
for _ in range(50):
    once()
assert descriptors() == before[0]
assert resident() - before[1] < 2 << 20, resident() - before[1]
"""
    )


def test_eight_threads_make_sessions_at_once() -> None:
    run_python(
        START
        + """
from concurrent.futures import ThreadPoolExecutor
values, ep_class = {}, register(ep.MulEp)
x = np.linspace(-1, 1, 8, dtype=np.float32)
expected = ort.InferenceSession(many_muls(10)).run(None, {"X": x})[0]
def work(number):
    session = open_session(ep.MulEp, many_muls(10), {}, values)
    return all(np.array_equal(session.run(None, {"X": x})[0], expected) for _ in range(10))
with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(work, range(16))) == [True] * 16
assert len(values) == 10
"""
    )


@pytest.mark.parametrize(
    "end",
    [
        "session = open_session(PlainMul)",
        "sys.kept = open_session(PlainMul)",
        "import types; last = sys.modules['last'] = types.ModuleType('last'); last.session = open_session(PlainMul)",
        "open_session(PlainMul)",
        "session = open_session(PlainMul); del ep_class; gc.collect()",
        "session = open_session(PlainMul); cycle = [session]; cycle.append(cycle); del session",
        "t = threading.Thread(target=lambda: setattr(sys, 'kept', open_session(PlainMul))); t.start(); t.join()",
        "sys.kept = open_session(PlainMul); sys.exit(0)",
    ],
)
def test_a_process_ends_cleanly(end: str) -> None:
    run_python(START + "ep_class = register(PlainMul, ep.MulEp)\n" + end)


def test_verbose_logging_does_not_outlive_the_session() -> None:
    code = """
options_for_plain = options_for
ep_class = register(make_ep(close=lambda self: self.context.log.verbose("close")))
for _ in range(30):
    options = options_for(ep_class)
    options.log_severity_level = 0
    session = ort.InferenceSession(MODEL, options)
    assert session.run(None, FEEDS)[0].tolist() == [3, 8]
    del session
print("done")
"""
    assert run_python(START + code, quiet=False).split() == ["done"]


def test_a_forked_child_uses_what_it_inherited() -> None:
    code = """
ep_class = register(PlainMul)
session = open_session(PlainMul)
child = os.fork()
if not child:
    assert session.run(None, FEEDS)[0].tolist() == [3, 8]
    assert open_session(PlainMul).run(None, FEEDS)[0].tolist() == [3, 8]
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert session.run(None, FEEDS)[0].tolist() == [3, 8]
"""
    run_python(START + code)


def test_a_model_is_compiled_ahead() -> None:
    run_python(
        START
        + """
values, ep_class = {}, register(ep.MulEp)
options = options_for(ep.MulEp, {}, values)
data = ort.ModelCompiler(options, squares_model(), embed_compiled_data_into_model=True).compile_to_bytes()
assert len(values) == 2
session = open_session(ep.MulEp, data)
assert session.run(None, {"X": X})[0].tolist() == (X * X * X * [10, 20]).tolist()
assert ep.instances()[-1].outcomes == {"context": 3}
"""
    )
