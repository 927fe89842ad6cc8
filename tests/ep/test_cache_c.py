"""An execution provider in Python over cache functions in C: nothing of Python stands between the two."""

from __future__ import annotations

import ctypes
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ortcache import raw
from ortcache.ep import CacheCounters, CacheSupport, MulEp, instances
from ortcache.runtime import Runtime

from ..support.ep_classes import make_ep, registered
from ..support.ep_functions import function_session
from ..support.ep_models import squares_model
from ..support.oracles import compiler


@pytest.fixture(scope="module")
def c_code(tmp_path_factory: pytest.TempPathFactory) -> Any:
    target = tmp_path_factory.mktemp("functions") / "functions.so"
    source = Path(__file__).with_name("functions.c")
    subprocess.run([compiler(), "-O1", "-Wall", "-Werror", "-shared", "-fPIC", source, "-o", target], check=True)
    loaded = ctypes.CDLL(str(target))
    loaded.new_store.restype = ctypes.c_void_p
    return loaded


def functions(c_code: Any) -> tuple[Any, Any]:
    return (
        ctypes.cast(c_code.read_value, raw.OrtReadNamedBufferFunc),
        ctypes.cast(c_code.write_value, raw.OrtWriteNamedBufferFunc),
    )


def facts(c_code: Any, store: int) -> list[int]:
    cells = [ctypes.c_int() for _ in range(3)]
    c_code.store_facts(ctypes.c_void_p(store), *map(ctypes.byref, cells))
    return [cell.value for cell in cells]


def test_values_go_both_ways(rt: Runtime, c_code: Any) -> None:
    store = c_code.new_store()
    ep = make_ep(cache_support=CacheSupport.READ | CacheSupport.WRITE)
    with registered(rt, ep) as devices:
        with function_session(rt, devices, squares_model(), *functions(c_code), store):
            cache = instances(ep)[0].context.cache
            data = np.random.default_rng(1).bytes(1 << 20)
            assert cache.get("key") is None and cache.put("key", data) and cache.get("key") == data
            assert cache.counters == CacheCounters(
                hits=1, misses=1, writes=1, bytes_read=len(data), bytes_written=len(data)
            )
    assert facts(c_code, store) == [1, 2, 1]


def test_the_example_starts_cold_and_then_warm(rt: Runtime, c_code: Any) -> None:
    store, x = c_code.new_store(), np.array([[1, 2]], np.float32)
    with registered(rt, MulEp) as devices:
        for expected in ({"miss": 2, "hit": 1, "built": 2, "written": 2}, {"hit": 3}):
            with function_session(rt, devices, squares_model(), *functions(c_code), store) as session:
                assert session.run({"X": x})[0].tolist() == [[10, 160]]
                (instance,) = instances(MulEp)
                assert isinstance(instance, MulEp) and dict(instance.outcomes) == expected
    assert facts(c_code, store) == [2, 6, 2]
