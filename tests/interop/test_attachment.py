"""What `attach` sets, replaces and clears on the official SessionOptions, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from ..support.official import official_python


def test_each_call_replaces_both_directions_and_none_clears() -> None:
    code = """
devices, first, second = interop.register_ep(MulEp), Recorder(), Recorder()
options = options_for(devices, first)
assert right(ort.InferenceSession(MODEL, options)) and first.kinds == "rw"
interop.attach(options, write=second.put)
assert right(ort.InferenceSession(MODEL, options)) and (first.kinds, second.kinds) == ("rw", "w")
interop.attach(options, read=second.get)
assert right(ort.InferenceSession(MODEL, options)) and (first.kinds, second.kinds) == ("rw", "wr")
assert interop.ep_cache_stats(options).hits == 1
interop.attach(options)
assert right(ort.InferenceSession(MODEL, options)) and (first.kinds, second.kinds) == ("rw", "wr")
assert interop.ep_cache_stats(options) == oc.EpCacheStats()
interop.attach(options, first)
assert right(ort.InferenceSession(MODEL, options)) and (first.kinds, second.kinds) == ("rwr", "wr")
"""
    official_python(code)  # quiet: ORT would warn of a config entry that is set again


def test_a_session_keeps_what_was_attached_when_it_was_made() -> None:
    code = """
from tests.support.cache_eps import LazyEp
devices, first, second = interop.register_ep(LazyEp), Recorder(), Recorder()
options = options_for(devices, first)
session = ort.InferenceSession(MODEL, options)
interop.attach(options, second)
later = ort.InferenceSession(MODEL, options)
assert right(session) and (first.kinds, second.kinds) == ("rw", "")
assert right(later) and (first.kinds, second.kinds) == ("rw", "rw")
interop.attach(options)
assert right(session) and (first.kinds, second.kinds) == ("rwrw", "rw")
assert [interop.ep_cache_stats(one).writes for one in (session, later, options)] == [2, 1, 0]
"""
    official_python(code)


def test_options_made_without_it_have_nothing() -> None:
    code = """
devices, cache = interop.register_ep(MulEp), Recorder()
kept = options_for(devices, cache)
other = options_for(devices)
assert right(ort.InferenceSession(MODEL, other)) and cache.calls == []
interop.attach(other)  # nothing to clear
assert right(ort.InferenceSession(MODEL, other)) and cache.calls == []
assert interop.ep_cache_stats(other) == oc.EpCacheStats() and interop.ep_cache_support(other) == {}
assert right(ort.InferenceSession(MODEL)) and cache.calls == []
"""
    official_python(code)


@pytest.mark.parametrize("name", ["sqlite:///{}/cache.db", "file://{}/folder", "{}/path"])
def test_a_url_names_the_store(name: str, tmp_path: Path) -> None:
    code = """
devices = interop.register_ep(MulEp)
for hits in (0, 1):
    options = options_for(devices, sys.argv[1])
    assert right(ort.InferenceSession(MODEL, options)) and interop.ep_cache_stats(options).hits == hits
assert "nowhere" in str(raised(oc.InputError, interop.attach, options, "nowhere://store"))
assert right(ort.InferenceSession(MODEL, options)) and interop.ep_cache_stats(options).hits == 2
"""
    official_python(code, name.format(tmp_path))


def test_one_set_of_callbacks_may_serve_several_options() -> None:
    code = """
devices, values = interop.register_ep(MulEp), {}
shared = oc.CacheCallbacks(values.get, lambda key, value: values.__setitem__(key, bytes(value)))
for hits in (0, 1):
    options = options_for(devices, shared)
    assert right(ort.InferenceSession(MODEL, options))
    assert interop.ep_cache_stats(options) == shared.stats and shared.stats.hits == hits
"""
    official_python(code)


def test_a_value_above_the_limit_does_not_pass() -> None:
    code = """
logging.disable()
devices, cache = interop.register_ep(MulEp), Recorder()
options = options_for(devices, cache, max_size=10)
assert right(ort.InferenceSession(MODEL, options)) and cache.values == {}
assert interop.ep_cache_stats(options).write_errors == 1
"""
    official_python(code)


def test_the_switch_turns_it_off() -> None:
    code = """
devices, cache = interop.register_ep(MulEp), Recorder()
options = options_for(devices, cache)
assert right(ort.InferenceSession(MODEL, options)) and cache.calls == []
assert right(interop.session(MODEL, options, strict=True)) and cache.calls == []
assert interop.ep_cache_stats(options) == oc.EpCacheStats()
del os.environ["ORTCACHE_DISABLE"]
interop.attach(options, cache)
assert right(ort.InferenceSession(MODEL, options)) and cache.kinds == "rw"
os.environ["ORTCACHE_DISABLE"] = "1"
interop.attach(options, cache)
assert right(ort.InferenceSession(MODEL, options)) and cache.kinds == "rw"
"""
    official_python(code, ORTCACHE_DISABLE="1")


@pytest.mark.parametrize(
    ("call", "kind", "said"),
    [
        ("interop.attach(None, {})", "TypeError", "takes an onnxruntime.SessionOptions, not NoneType"),
        ("interop.attach(oc.load().session_options(), {})", "TypeError", "takes an onnxruntime.SessionOptions"),
        ("interop.attach(options, 7)", "TypeError", "not int"),
        ("interop.attach(options, {}, read=len)", "TypeError", "not both"),
        ("interop.attach(options, read=7)", "TypeError", "read must be a function, not int"),
        ("interop.attach(options, {}, strict=True)", "oc.InputError", "interop.session(model, options, strict=True)"),
        ("interop.attach(options, oc.CacheCallbacks(len, None, strict=True))", "oc.InputError", "interop.session("),
        ("interop.attach(options, oc.CacheCallbacks(len, None), max_size=7)", "TypeError", "give them to it"),
        ("interop.ep_cache_stats(7)", "TypeError", "not int"),
        ("interop.ep_cache_support(None)", "TypeError", "not NoneType"),
        ("interop.session(MODEL, options, strict=True)", "oc.InputError", "attach one to its options first"),
        ("interop.session(MODEL, strict=True)", "oc.InputError", "attach one to its options first"),
        ("interop.register_ep()", "TypeError", "at least one execution provider class"),
        ("interop.register_ep(dict)", "TypeError", "subclasses of ortcache.ep.Ep"),
        ("interop.register_ep(MulEp, name='')", "oc.InputError", "the registration name is empty"),
        ("interop.register_ep_library('x', '/nowhere/x.so')", "oc.InputError", "no execution provider library"),
        ("interop.register_ep_library('x', os.devnull)", "oc.InputError", ""),
        ("interop.unregister_ep_library('x')", "oc.OrtError", "x was not registered"),
    ],
)
def test_bad_input_is_refused_and_changes_nothing(call: str, kind: str, said: str) -> None:
    code = f"""
warnings.simplefilter("ignore")
options, before = ort.SessionOptions(), len(ort.get_ep_devices())
try:
    {call}
except {kind} as error:
    assert sys.argv[1] in str(error), error
else:
    raise AssertionError("it was taken")
assert len(ort.get_ep_devices()) == before and tuples() == 0
assert interop.ep_cache_stats(options) == oc.EpCacheStats()
"""
    official_python(code, said)
