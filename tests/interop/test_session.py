"""Sessions that `interop.session` makes: strict ones, and what they and plain ones say of their providers."""

from __future__ import annotations

from pathlib import Path

from ..support.official import official_python


def test_a_strict_session_is_made_where_its_providers_do_what_is_attached() -> None:
    code = """
devices, cache = interop.register_ep(MulEp), Recorder()
session = interop.session(MODEL, options_for(devices, cache), strict=True)
assert type(session) is ort.InferenceSession and right(session) and cache.kinds == "rw"
assert right(interop.session(MODEL, options_for(devices, read=cache.get), strict=True))
"""
    official_python(code)


def test_a_strict_session_is_refused_where_a_provider_cannot() -> None:
    code = """
NoEp, ReadEp = make_ep(name="NoEp"), make_ep(name="ReadEp", cache_support=oc.CacheSupport.READ)
logging.disable()
none, read = interop.register_ep(NoEp), interop.register_ep(ReadEp)
cache, gone = Values(), []
for devices, how, said in (
    (none, {"cache": cache}, "NoEp does not read or write through callbacks"),
    (read, {"cache": cache}, "ReadEp does not write through callbacks"),
    (read, {"write": lambda key, value: None}, "ReadEp does not write through callbacks"),
):
    error = raised(oc.EpCacheError, interop.session, MODEL, options_for(devices, **how), strict=True)
    assert said in str(error), error
    del error
    assert instances() == []  # the session is gone, though nobody collected garbage
assert right(interop.session(MODEL, options_for(read, read=cache.get), strict=True))
assert right(interop.session(MODEL, options_for(none, cache)))
without = ort.SessionOptions()
interop.attach(without, cache)
assert "no execution provider was appended" in str(raised(
    oc.EpCacheError, interop.session, MODEL, without, strict=True, providers=["CPUExecutionProvider"]))
"""
    official_python(code)


def test_a_strict_session_raises_what_fails() -> None:
    code = """
logging.disable()
devices = interop.register_ep(MulEp)
def fail(*args):
    raise OSError("dead")
error = raised(oc.EpCacheError, interop.session, MODEL, options_for(devices, read=fail, write=fail), strict=True)
assert "dead" in str(error) and isinstance(error.__cause__, OSError)
del error  # its traceback leads to the session
assert instances() == []
"""
    official_python(code)


def test_a_compiled_provider_may_be_strict(compiled: Path, plain: Path) -> None:
    code = """
logging.disable()
speaks, silent = (interop.register_ep_library(name, name) for name in sys.argv[1:])
assert right(interop.session(MODEL, options_for(speaks, {}), strict=True))
error = raised(oc.EpCacheError, interop.session, MODEL, options_for(silent, {}), strict=True)
assert "CMulExecutionProvider does not read or write" in str(error)
cause = OSError("dead")
options = options_for(speaks, Recorder(fails=cause))
options.log_severity_level = 4
assert raised(oc.EpCacheError, interop.session, MODEL, options, strict=True).__cause__ is cause
"""
    official_python(code, compiled, plain)


def test_a_session_made_here_tells_all_its_providers() -> None:
    code = """
ReadEp = make_ep(name="ReadEp", cache_support=oc.CacheSupport.READ, get_capability=lambda self, graph: [])
options = options_for(interop.register_ep(MulEp))
options.add_provider_for_devices(interop.register_ep(ReadEp), {})
expected = {"MulExecutionProvider": BOTH, "ReadEp": oc.CacheSupport.READ}
assert interop.ep_cache_support(interop.session(MODEL, options)) == expected  # with nothing attached
interop.attach(options, {})
session = interop.session(MODEL, options)
interop.attach(options)
assert interop.ep_cache_support(session) == expected
assert interop.ep_cache_support(interop.session(MODEL)) == {}
"""
    official_python(code)


def test_a_plain_session_tells_what_is_known_from_what_is_attached() -> None:
    code = """
options = options_for(interop.register_ep(MulEp))
assert interop.ep_cache_support(ort.InferenceSession(MODEL, options)) == {}  # not known
interop.attach(options, {})
assert interop.ep_cache_support(options) == {}  # nothing was made with it yet
session = ort.InferenceSession(MODEL, options)
assert interop.ep_cache_support(session) == interop.ep_cache_support(options) == {"MulExecutionProvider": BOTH}
without = ort.InferenceSession(MODEL, options, providers=["CPUExecutionProvider"])
assert interop.ep_cache_support(without) == {}  # its provider is ORT's own
interop.attach(options, {})
assert interop.ep_cache_support(options) == {} and interop.ep_cache_support(session) != {}
"""
    official_python(code.replace("without = ", "warnings.simplefilter('ignore')\nwithout = "))


def test_what_instances_differ_in_is_not_guessed() -> None:
    code = """
support = property(lambda self: oc.CacheSupport(int(self.context.options["support"])))
devices = interop.register_ep(make_ep(name="Varying", cache_support=support))
shared = oc.CacheCallbacks({}.get, None)
made = []
for flags in (1, 2):
    options = options_for(devices, ep_options={"support": str(flags)})
    interop.attach(options, shared)
    made.append(ort.InferenceSession(MODEL, options))
    assert interop.ep_cache_support(made[-1]) == {"Varying": oc.CacheSupport(flags)}
"""
    official_python(code)


def test_sessions_in_sessions_know_their_own_providers() -> None:
    code = """
inner = []
def compile(self, graph, node):
    inner.append(interop.session(MODEL, options_for(mul, {})))
    return PlainMul.compile(self, graph, node)
mul, outer = interop.register_ep(MulEp), interop.register_ep(make_ep(name="Outer", compile=compile))
session = interop.session(MODEL, options_for(outer))
assert interop.ep_cache_support(session) == {"Outer": oc.CacheSupport.NONE}
assert interop.ep_cache_support(inner[0]) == {"MulExecutionProvider": BOTH}
inner.clear()
"""
    official_python(code)


def test_what_the_module_raises_comes_through() -> None:
    code = """
error = raised(Exception, interop.session, b"no model", options_for(interop.register_ep(MulEp), {}), strict=True)
assert type(error).__module__.startswith("onnxruntime")
raised(TypeError, interop.session, 7)
"""
    official_python(code)
