"""The example's plans in a cache: cold and warm, and everything that is not its own is rejected and rewritten."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from ortcache.api.device import EpDevice
from ortcache.core.native import native_at
from ortcache.ep import MulEp, instances
from ortcache.ep.mul import FORMAT_VERSION, MAGIC
from ortcache.ep.sealed import OVERHEAD, seal
from ortcache.runtime import Runtime

from ..support.ep_classes import ep_session, registered
from ..support.ep_functions import Memory, function_session, status
from ..support.ep_models import many_muls, mul_graph

WEIGHTS = np.array([[1, -2, 3], [0.5, 0, 7]], np.float32)
MODEL = mul_graph(1, [2, 3], [2, 3], [2, 3], constant_b=WEIGHTS)
FEEDS = {"A": np.array([[1, 2, 3], [4, 5, 6]], np.float32)}
PRODUCT = FEEDS["A"] * WEIGHTS


@pytest.fixture
def devices(rt: Runtime) -> Iterator[list[EpDevice]]:
    with registered(rt, MulEp) as found:
        yield found


def outcomes(
    rt: Runtime, devices: list[EpDevice], values: Any, model: bytes = MODEL, options: Any = None, ep: Any = MulEp
) -> dict[str, int]:
    """Make a session over a cache, see that it multiplies, and give what the provider counted."""
    with ep_session(rt, devices, model, options, ep_cache=values) as session:
        if model is MODEL:
            np.testing.assert_array_equal(session.run(FEEDS)[0], PRODUCT)
        (instance,) = instances(ep)
        assert isinstance(instance, MulEp)
        return dict(instance.outcomes)


COLD, WARM = {"miss": 1, "built": 1, "written": 1}, {"hit": 1}


def test_a_cold_start_writes_what_a_warm_one_reads(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    assert outcomes(rt, devices, values) == COLD
    ((key, entry),) = values.items()
    assert key.startswith("mul-") and entry.startswith(MAGIC) and WEIGHTS.tobytes() in entry
    for _ in range(3):
        assert outcomes(rt, devices, values) == WARM
    assert values == {key: entry}


def test_a_warm_start_uses_the_plan_and_spares_the_time(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        outcomes(rt, devices, values, many_muls(5), {"compile_delay_ms": "100"})
        seconds.append(time.perf_counter() - start)
    assert seconds[0] > 0.5 > seconds[1]
    assert len(values) == 5


def test_an_entry_that_is_cut_anywhere_is_rejected_and_rewritten(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    outcomes(rt, devices, values)
    ((key, entry),) = values.items()
    for size in range(1, len(entry)):
        values[key] = entry[:size]
        assert outcomes(rt, devices, values) == {"rejected_size": 1, "built": 1, "written": 1}
        assert values == {key: entry}
    values[key] = b""  # which is none
    assert outcomes(rt, devices, values) == COLD and values == {key: entry}


def test_an_entry_with_any_byte_flipped_is_rejected_and_rewritten(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    outcomes(rt, devices, values)
    ((key, entry),) = values.items()
    seen = set()
    for place in range(len(entry)):
        values[key] = entry[:place] + bytes([entry[place] ^ 1 << place % 8]) + entry[place + 1 :]
        found = outcomes(rt, devices, values)
        (reason,) = (name for name in found if name.startswith("rejected_"))
        assert found == {reason: 1, "built": 1, "written": 1} and values == {key: entry}
        seen.add(reason)
    assert seen == {"rejected_magic", "rejected_version", "rejected_size", "rejected_digest"}


def _resealed(entry: bytes, payload: bytes, *, magic: bytes = MAGIC, version: int = FORMAT_VERSION) -> bytes:
    return seal(magic, version, entry[12:44], payload)


def test_the_application_is_told_of_rejected_values(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    outcomes(rt, devices, values, many_muls(3))
    for key in list(values)[:2]:
        values[key] = b"somebody else's"
    with ep_session(rt, devices, many_muls(3), ep_cache=values) as session:
        stats = session.ep_cache_stats()
        assert (stats.hits, stats.rejected, stats.writes) == (3, 2, 2)
        assert instances(MulEp)[0].context.cache.counters.rejected == 2


def test_a_whole_entry_that_is_not_its_own_is_rejected(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    outcomes(rt, devices, values)
    ((key, entry),) = values.items()
    payload = entry[52:-32]
    other_shape = mul_graph(1, [3, 2], [3, 2], [3, 2], constant_b=WEIGHTS.reshape(3, 2))
    others: dict[str, bytes] = {}
    outcomes(rt, devices, others, other_shape)
    weights = payload.index(WEIGHTS.tobytes())
    wrong = {
        "rejected_magic": [b"somebody else's plan" * 9, _resealed(entry, payload, magic=b"OTHERONE")],
        "rejected_version": [_resealed(entry, payload, version=FORMAT_VERSION + 1), _resealed(entry, b"", version=0)],
        "rejected_fingerprint": list(others.values()),
        "rejected_size": [entry + b"\0", entry + entry],
        "rejected_payload": [
            _resealed(entry, changed)
            for changed in (
                b"",
                b"\1",
                b"\1\xff",
                b"\2" + payload[1:],
                b"\0" + payload[1:],
                payload + b"\0",
                payload[:-1],
                payload[:weights] + payload[weights + 4 :] + payload[weights : weights + 4],  # other weights
                payload.replace((6).to_bytes(8, "little"), (7).to_bytes(8, "little"), 1),  # another shape
                payload[: weights - 8] + (2**62).to_bytes(8, "little") + payload[weights:],
                payload[: weights - 8] + (-2).to_bytes(8, "little", signed=True) + payload[weights:],
            )
        ],
    }
    for reason, entries in wrong.items():
        for one in entries:
            values[key] = one
            assert outcomes(rt, devices, values) == {reason: 1, "built": 1, "written": 1}, (reason, one)
            assert values == {key: entry}


def test_what_a_plan_depends_on_gives_it_a_key_of_its_own(rt: Runtime, devices: list[EpDevice]) -> None:
    changed = WEIGHTS.copy()
    changed[1, 2] = np.nextafter(changed[1, 2], np.float32(8))  # one bit of one weight
    models = [
        MODEL,
        mul_graph(1, [2, 3], [2, 3], [2, 3], constant_b=changed),
        mul_graph(1, [2, 3], [2, 3], [2, 3], constant_a=WEIGHTS),
        mul_graph(1, [2, 3], [2, 3], [2, 3]),
        mul_graph(1, [3, 3], [3, 3], [3, 3]),
        mul_graph(1, [4, 4], [4, 4], [4, 4]),
        mul_graph(1, [1, 256], [1, 256], [1, 256]),
        mul_graph(1, [1, 1], [1, 1], [1, 1]),
        mul_graph(1, ["n", 3], [2, 3], [2, 3]),
        mul_graph(6, [2, 3], [2, 3], [2, 3]),
        mul_graph(1, [2, 3], [2, 3], [2, 3], constant_b=WEIGHTS, opset=13),
    ]
    values: dict[str, bytes] = {}
    for number, model in enumerate(models, 1):
        assert outcomes(rt, devices, values, model) == COLD
        assert len(values) == number
    for model in models:
        assert outcomes(rt, devices, values, model) == WARM


def test_versions_that_take_turns_each_keep_their_own(rt: Runtime) -> None:
    newer = type("NewerMul", (MulEp,), {"version": "1.1.0"})  # of the same name
    values: dict[str, bytes] = {}
    for expected in (COLD, WARM, WARM):
        for ep in (MulEp, newer):
            with registered(rt, ep) as devices:
                assert outcomes(rt, devices, values, ep=ep) == expected
    assert len(values) == 2


def test_another_onnx_runtime_is_a_miss(rt: Runtime, devices: list[EpDevice], monkeypatch: pytest.MonkeyPatch) -> None:
    values: dict[str, bytes] = {}
    outcomes(rt, devices, values)
    before = dict(values)
    monkeypatch.setattr(native_at(rt.native.base), "version", "1.99.0")  # what an EP of this library sees
    assert outcomes(rt, devices, values) == COLD
    assert len(values) == 2 and before.items() <= values.items()
    monkeypatch.undo()
    assert outcomes(rt, devices, values) == WARM


def test_one_direction_only(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    memory = Memory(rt.native)
    for read, write, expected in (
        (None, memory.write, {"off": 1, "built": 1, "written": 1}),
        (memory.read, None, WARM),
        (None, None, {"off": 1, "built": 1}),
    ):
        with function_session(rt, devices, MODEL, read, write) as session:
            np.testing.assert_array_equal(session.run(FEEDS)[0], PRODUCT)
            (instance,) = instances(MulEp)
            assert isinstance(instance, MulEp) and dict(instance.outcomes) == expected
    assert list(memory.values) != list(values)


def test_failures_are_counted_and_break_nothing(rt: Runtime, devices: list[EpDevice]) -> None:
    memory = Memory(rt.native)
    memory.answer = lambda key, allocator: (status(memory.native), None, 0)
    memory.refuse = lambda key, data: status(memory.native)
    with function_session(rt, devices, MODEL, memory.read, memory.write) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], PRODUCT)
        (instance,) = instances(MulEp)
        assert isinstance(instance, MulEp) and instance.outcomes == {"error": 1, "built": 1, "write_failed": 1}


def test_plans_above_the_limit_are_neither_read_nor_written(rt: Runtime, devices: list[EpDevice]) -> None:
    values: dict[str, bytes] = {}
    outcomes(rt, devices, values)
    ((key, entry),) = values.items()
    exact, less = {"max_plan_bytes": str(len(entry))}, {"max_plan_bytes": str(len(entry) - 1)}
    assert outcomes(rt, devices, values, options=exact) == WARM
    assert outcomes(rt, devices, values, options=less) == {"oversize": 1, "built": 1, "write_failed": 1}
    assert values == {key: entry} and len(entry) > OVERHEAD


def test_the_key_and_the_compilation_are_announced(rt: Runtime, devices: list[EpDevice], caplog: Any) -> None:
    values: dict[str, bytes] = {}
    with caplog.at_level("INFO", "onnxruntime"):
        with ep_session(rt, devices, MODEL, ep_cache=values, log_severity_level="info"):
            pass
    (key,) = values
    assert f"compiling a Mul of float, {key}" in caplog.text
