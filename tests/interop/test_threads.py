"""Several official sessions at once: of shared and separate stores, of providers in Python and compiled ones."""

from __future__ import annotations

from pathlib import Path

from ..support.official import official_python


def test_sessions_in_threads_over_one_store_and_over_their_own(tmp_path: Path) -> None:
    code = """
from tests.support.ep_models import many_muls
devices, shared = interop.register_ep(MulEp), oc.DirectoryStore(sys.argv[1])
model, x = many_muls(10), np.linspace(-1, 1, 8, dtype=np.float32)
expected = ort.InferenceSession(model).run(None, {"X": x})[0]
def work(number):
    own = {}
    options = options_for(devices, shared if number % 2 else own)
    make = interop.session if number % 3 else ort.InferenceSession
    session = make(model, options)
    assert all(np.array_equal(session.run(None, {"X": x})[0], expected) for _ in range(10))
    assert interop.ep_cache_support(session) == {NAME: BOTH}
    stats = interop.ep_cache_stats(session)
    assert stats.reads == 10 and stats.read_errors == stats.write_errors == stats.rejected == 0, stats
    assert number % 2 or (stats.misses, len(own)) == (10, 10), stats
with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, range(32)))
assert len(list(shared.keys())) == 10
gc.collect()
assert instances() == [] and tuples() == 0
"""
    official_python(code, tmp_path / "store")


def test_python_and_compiled_providers_at_once(compiled: Path, plain: Path) -> None:
    code = """
speaks, silent = (interop.register_ep_library(name, name) for name in sys.argv[1:])
python, store = interop.register_ep(MulEp), {}
def work(number):
    devices, expected = [(python, {NAME: BOTH}), (speaks, {"CMulExecutionProvider": BOTH}),
                         (silent, {"CMulExecutionProvider": oc.CacheSupport.NONE})][number % 3]
    options = options_for(devices, store)
    session = interop.session(MODEL, options, strict=number % 3 < 2)
    assert right(session) and interop.ep_cache_support(session) == expected
    stats = interop.ep_cache_stats(options)
    assert stats.reads == (number % 3 < 2) and stats.read_errors == stats.write_errors == 0, stats
with ThreadPoolExecutor(6) as pool:
    list(pool.map(work, range(48)))
assert {"c-mul.plan", "c-mul.end"} < set(store) and len(store) == 3
gc.collect()
assert tuples() == 0
"""
    official_python(code, compiled, plain)


def test_both_kinds_in_one_session(compiled: Path) -> None:
    code = """
from tests.support.ep_models import many_muls
devices, store = interop.register_ep_library("compiled", sys.argv[1]), {}
first = make_ep(MulEp, name="First", get_capability=lambda self, graph: MulEp.get_capability(self, graph)[:1])
options = options_for(interop.register_ep(first), store)
options.add_provider_for_devices(devices, {})
model, x = many_muls(3), np.linspace(-1, 1, 8, dtype=np.float32)
session = interop.session(model, options, strict=True)
assert np.array_equal(session.run(None, {"X": x})[0], ort.InferenceSession(model).run(None, {"X": x})[0])
assert interop.ep_cache_support(session) == {"First": BOTH, "CMulExecutionProvider": BOTH}
assert "c-mul.plan" in store and len(store) == 2
"""
    official_python(code, compiled)


def test_attaching_in_threads_to_the_same_options() -> None:
    code = """
devices = interop.register_ep(MulEp)
options, caches = options_for(devices), [Recorder() for _ in range(8)]
def work(cache):
    for _ in range(25):
        interop.attach(options, cache)
with ThreadPoolExecutor(8) as pool:
    list(pool.map(work, caches))
assert right(ort.InferenceSession(MODEL, options))
assert sorted(cache.kinds for cache in caches) == [""] * 7 + ["rw"]
assert tuples() == 1
"""
    official_python(code)


def test_the_first_calls_may_come_from_several_threads() -> None:
    code = """
def work(number):
    options = ort.SessionOptions()
    interop.attach(options, {})
    return interop.register_ep(make_ep(name=f"Ep{number}"))[0].ep_name
with ThreadPoolExecutor(8) as pool:
    assert list(pool.map(work, range(8))) == [f"Ep{number}" for number in range(8)]
"""
    official_python(code)


def test_a_forked_child_uses_what_it_inherited_and_makes_its_own(compiled: Path) -> None:
    code = """
warnings.simplefilter("ignore", DeprecationWarning)  # that a process that forks has threads
python, store = interop.register_ep(MulEp), oc.MemoryStore()
native = interop.register_ep_library("compiled", sys.argv[1])
options = options_for(python, store)
session = ort.InferenceSession(MODEL, options)
child = os.fork()
if not child:
    assert right(session) and right(ort.InferenceSession(MODEL, options))
    assert interop.ep_cache_stats(options).hits == 1
    assert right(interop.session(MODEL, options_for(native, store), strict=True))
    late = interop.register_ep(PlainMul)
    assert right(ort.InferenceSession(MODEL, options_for(late)))
    del session, options
    gc.collect()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
assert right(session) and interop.ep_cache_stats(options).hits == 0
"""
    official_python(code, compiled)


def test_a_session_that_is_being_made_keeps_what_another_thread_replaces() -> None:
    code = """
import threading
from onnxruntime.capi import onnxruntime_inference_collection as collection
class Slow:
    "The module's C part; a session is made slowly once it has copied its options."
    def __init__(self, real):
        self.real = real
    def __getattr__(self, name):
        return getattr(self.real, name)
    def InferenceSession(self, *args):
        made = self.real.InferenceSession(*args)
        other = threading.Thread(target=interop.attach, args=(options, Values()))
        other.start()
        other.join()
        gc.collect()
        return made
devices, store = interop.register_ep(MulEp), Values()
options, dead = options_for(devices, store), weakref.ref(store)
collection.C = Slow(collection.C)
session = ort.InferenceSession(MODEL, options)
collection.C = collection.C.real
assert right(session) and len(store) == 1
assert interop.ep_cache_stats(session).writes == 1 and interop.ep_cache_stats(options).reads == 0
del session, store
gc.collect()
assert dead() is None and tuples() == 1
"""
    official_python(code)
