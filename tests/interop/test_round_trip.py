"""What providers in the official module store, they find again: in later sessions, processes and copies of ORT."""

from __future__ import annotations

from pathlib import Path

from ..support.official import official_python


def test_cold_and_warm_in_separate_processes(tmp_path: Path) -> None:
    code = """
devices = interop.register_ep(MulEp)
session = ort.InferenceSession(MODEL, options_for(devices, oc.DirectoryStore(sys.argv[1])))
assert right(session)
assert instances()[0].outcomes == json.loads(sys.argv[2])
"""
    official_python(code, tmp_path / "store", '{"miss": 1, "built": 1, "written": 1}')
    official_python(code, tmp_path / "store", '{"hit": 1}')


def test_the_same_store_serves_both_copies_of_onnx_runtime(tmp_path: Path) -> None:
    code = """
rt, store = oc.load(), oc.DirectoryStore(sys.argv[1])
with rt.session_options(intra_op_num_threads=1, ep_cache=store) as options:
    options.append_ep(rt.register_ep(MulEp))
    with rt.session(MODEL, options) as own:
        assert (own.run(FEEDS)[0] == EXPECTED).all()
assert own.ep_cache_stats().writes == 1
theirs = options_for(interop.register_ep(MulEp), store)
assert right(ort.InferenceSession(MODEL, theirs))
assert (interop.ep_cache_stats(theirs).hits, interop.ep_cache_stats(theirs).writes) == (1, 0)
with rt.session_options(intra_op_num_threads=1, ep_cache=store) as options:
    options.append_ep([device for device in rt.ep_devices() if device.ep_name == NAME])
    with rt.session(MODEL, options) as own:
        assert own.ep_cache_stats().hits == 1
"""
    official_python(code, tmp_path / "store")


def test_one_direction_failures_and_what_is_not_its_own() -> None:
    code = """
logging.disable()  # what fails is told, once to the log of ORT and once here
devices, cache = interop.register_ep(MulEp), Recorder()
def outcomes(**how):
    options = options_for(devices, **how)
    session = ort.InferenceSession(MODEL, options)
    assert right(session)
    return dict(instances()[0].outcomes), interop.ep_cache_stats(session)

found, stats = outcomes(write=cache.put)
assert found == {"off": 1, "built": 1, "written": 1} and (stats.reads, stats.writes) == (0, 1)
found, stats = outcomes(read=cache.get)
assert found == {"hit": 1} and (stats.hits, stats.writes) == (1, 0)
assert stats.bytes_read == len(cache.values[next(iter(cache.values))])
(key,) = cache.values
cache.values[key] = b"something else"
found, stats = outcomes(cache=cache)
assert found == {"rejected_magic": 1, "built": 1, "written": 1} and stats.rejected == 1
cache.fails = OSError("dead")
found, stats = outcomes(cache=cache)
assert found == {"error": 1, "built": 1, "write_failed": 1}
assert (stats.read_errors, stats.write_errors) == (1, 1)
"""
    official_python(code)


def test_a_model_is_compiled_ahead_through_the_cache() -> None:
    code = """
devices, values = interop.register_ep(MulEp), {}
options = options_for(devices, values)
data = ort.ModelCompiler(options, MODEL, embed_compiled_data_into_model=True).compile_to_bytes()
assert len(values) == 1 and interop.ep_cache_stats(options).writes == 1
assert right(ort.InferenceSession(data, options_for(devices)))
"""
    official_python(code)


def test_a_compiled_provider_keeps_its_plan(compiled: Path) -> None:
    code = """
devices, store = interop.register_ep_library("compiled", sys.argv[1]), {}
assert [device.ep_name for device in devices] == ["CMulExecutionProvider"]
for hits, writes in ((0, 1), (1, 0)):
    options = options_for(devices, store)
    session = ort.InferenceSession(MODEL, options)
    assert right(session) and interop.ep_cache_support(session) == {"CMulExecutionProvider": BOTH}
    assert (interop.ep_cache_stats(session).hits, interop.ep_cache_stats(session).writes) == (hits, writes)
    del session, options
assert sorted(store) == ["c-mul.end", "c-mul.plan"]
interop.unregister_ep_library("compiled")
assert [device.ep_name for device in ort.get_ep_devices()] == ["CPUExecutionProvider"]
"""
    official_python(code, compiled)


def test_a_compiled_provider_that_knows_nothing_runs_as_without(plain: Path) -> None:
    code = """
devices, cache = interop.register_ep_library("plain", sys.argv[1]), Recorder()
session = interop.session(MODEL, options_for(devices, cache))
assert right(session) and cache.calls == [] and session.get_providers()[0] == "CMulExecutionProvider"
assert interop.ep_cache_support(session) == {"CMulExecutionProvider": oc.CacheSupport.NONE}
"""
    official_python(code, plain)
