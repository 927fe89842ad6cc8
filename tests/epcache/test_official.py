"""The round trip in the official onnxruntime module: callbacks by a config entry that its options carry."""

from __future__ import annotations

import gc
import json
import sys
from pathlib import Path

import pytest

from ..support.backends import child, wanted
from ..support.installed import package_folder
from ..support.oracles import need

#: Registers the EP in the module; `session` makes one of its sessions over a cache.
SETUP = """
import gc, json, sys
import numpy as np, onnxruntime as ort, ortcache as oc
from ortcache.core.callbacks import Token
from ortcache.core.named_buffers import NamedBuffers, read_pointer, write_pointer
from ortcache.ep import MulEp, instances, python_plugin
from ortcache.host.attach import host_of
from tests.support.cache_eps import EXPECTED, FEEDS, MODEL, Recorder

plugin = python_plugin(MulEp)
ort.register_execution_provider_library("mul", plugin.path)
plugin.loaded()
native = plugin._native  # of the module's own copy of ONNX Runtime
host = host_of(native)
devices = [device for device in ort.get_ep_devices() if device.ep_name == MulEp.name]

def session(cache, *, read=True, write=True, check=True):
    calls = oc.CacheCallbacks(cache.get if read else None, cache.put if write else None)
    token = Token(NamedBuffers(calls.read if read else None, calls.write if write else None))
    functions = read_pointer(native) if read else None, write_pointer(native) if write else None
    addresses = [ctypes_address(function) for function in functions]
    entry = host.proposal.entries.new(*addresses, token.value, (token, calls))
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.add_session_config_entry(entry.key, "1")
    options.add_provider_for_devices(devices, {})
    made = ort.InferenceSession(MODEL, options)
    assert (made.run(None, FEEDS)[0] == EXPECTED).all()
    outcomes = dict(instances()[-1].outcomes)
    del made, options
    gc.collect()
    return outcomes, calls.stats

def ctypes_address(function):
    import ctypes
    return ctypes.cast(function, ctypes.c_void_p).value if function else None
"""


@pytest.fixture(autouse=True)
def module() -> None:
    package_folder()
    need("linux", sys.platform == "linux")
    assert wanted() == "host"


def run(code: str, *args: object) -> object:
    return json.loads(child(f"{SETUP}\n{code}", *args))


def test_cold_and_warm_in_separate_processes(tmp_path: Path) -> None:
    code = "print(json.dumps(session(oc.DirectoryStore(sys.argv[1]))[0]))"
    assert run(code, tmp_path / "store") == {"miss": 1, "built": 1, "written": 1}
    assert run(code, tmp_path / "store") == {"hit": 1}


def test_the_same_store_serves_both_copies_of_onnx_runtime(tmp_path: Path) -> None:
    code = """
rt, store = oc.load(), oc.DirectoryStore(sys.argv[1])
with rt.session_options(intra_op_num_threads=1, ep_cache=store) as options:
    options.append_ep(rt.register_ep(MulEp))
    with rt.session(MODEL, options) as own:
        assert (own.run(FEEDS)[0] == EXPECTED).all()
print(json.dumps([own.ep_cache_stats().writes, session(store)[0]]))
"""
    assert run(code, tmp_path / "store") == [1, {"hit": 1}]


def test_one_direction_failures_and_what_is_not_its_own() -> None:
    code = """
import logging; logging.disable()  # what fails is told, once to the log of ORT and once here
cache = Recorder()
found = [session(cache, read=False)[0], session(cache, write=False)[0]]
(key,) = cache.values
cache.values[key] = b"something else"
found.append(session(cache)[0])
cache.fails = OSError("dead")
found.append(session(cache)[0])
print(json.dumps(found))
"""
    assert run(code) == [
        {"off": 1, "built": 1, "written": 1},
        {"hit": 1},
        {"rejected_magic": 1, "built": 1, "written": 1},
        {"error": 1, "built": 1, "write_failed": 1},
    ]


def test_nothing_is_left_of_a_session_and_unregistering_works() -> None:
    code = """
for _ in range(3):
    session(Recorder())
print(json.dumps([len(host.proposal.entries), len(instances())]))
ort.unregister_execution_provider_library("mul")
plugin.close()
"""
    assert run(code) == [0, 0]
    gc.collect()


@pytest.mark.parametrize(
    "end", ["", "kept = ort.InferenceSession(MODEL, options)", "ort.unregister_execution_provider_library('mul')"]
)
def test_exit_is_quiet_whatever_is_there(end: str) -> None:
    code = f"""
options = ort.SessionOptions()
options.add_provider_for_devices(devices, {{}})
{end}
print("[]")
"""
    assert run(code) == []
