"""Several threads in an execution provider at once, threads that are ORT's own, and sessions within sessions."""

from __future__ import annotations

import ctypes
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

import ortcache as oc
from ortcache import raw
from ortcache.api.device import EpDevice
from ortcache.core.callbacks import Token, target
from ortcache.core.marshal import pointers, strings
from ortcache.core.status import address
from ortcache.ep import MulEp, instances
from ortcache.runtime import Runtime

from ..support.ep_classes import ep_session, make_ep, multiply, registered
from ..support.ep_models import many_muls, mul_graph

MODEL = mul_graph(1, [2], [2], [2])
FEEDS = {"A": np.array([1, 2], np.float32), "B": np.array([3, 4], np.float32)}


def at_once(count: int, function: Any) -> list[Any]:
    """What a function gives in so many threads that start together."""
    barrier = threading.Barrier(count)

    def work(number: int) -> Any:
        barrier.wait(30)
        return function(number)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(work, range(count)))


def test_sessions_made_and_run_by_eight_threads_over_one_cache(rt: Runtime) -> None:
    values: dict[str, bytes] = {}
    model, x = many_muls(20), np.linspace(-1, 1, 8, dtype=np.float32)
    with rt.session(model, intra_op_num_threads=1) as session:
        (expected,) = session.run({"X": x})
    with registered(rt, MulEp) as devices:

        def work(number: int) -> bool:
            with ep_session(rt, devices, model, ep_cache=values) as session:
                return all(np.array_equal(session.run({"X": x})[0], expected) for _ in range(10))

        for _ in range(3):
            assert at_once(8, work) == [True] * 8
    assert len(values) == 20


def test_one_session_run_by_eight_threads(rt: Runtime) -> None:
    inside, most, lock = [0], [0], threading.Lock()

    def kernel(context: Any) -> None:
        with lock:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        event.wait(0.02)
        multiply(context)
        with lock:
            inside[0] -= 1

    event = threading.Event()
    with ep_session(rt, make_ep(compile=lambda self, graph, node: kernel), MODEL) as session:

        def work(number: int) -> Any:
            left = np.array([number, -number], np.float32)
            return [session.run({"A": left, "B": FEEDS["B"]})[0].tolist() for _ in range(5)]

        assert at_once(8, work) == [[[3 * n, -4 * n]] * 5 for n in range(8)]
    assert most[0] > 1  # several at once


@raw.RunAsyncCallbackFn
def _finished(token: int, outputs: Any, count: int, status: Any) -> None:
    """It lives as long as the process: it is on its way back to C when the test goes on."""
    native, answers, done = target(token)
    text = None
    if status:
        text = native.api.GetErrorMessage(status).decode()
        native.api.ReleaseStatus(status)
    answers.append((address(outputs[0]) if count and text is None else None, text))
    done.set()


def run_async(rt: Runtime, session: Any, left: Any) -> tuple[Any, str | None]:
    """A run on a thread of ONNX Runtime's: C as an array, or the text of the failure."""
    answers: list[tuple[int | None, str | None]] = []
    done = threading.Event()
    token = Token((rt.native, answers, done))
    values = [rt.value(left), rt.value(FEEDS["B"])]
    outputs = (ctypes.POINTER(raw.OrtValue) * 1)()
    inputs = strings(["A", "B"]), pointers(raw.OrtValue, values), 2
    rt.api.RunAsync(session, None, *inputs, strings(["C"]), 1, outputs, _finished, token.value)
    assert done.wait(60)
    ((value, text),) = answers
    if value is None:
        return None, text
    return oc.Value(rt.native, ctypes.cast(value, ctypes.POINTER(raw.OrtValue))).numpy(), text


def test_kernels_on_threads_of_onnx_runtime(rt: Runtime) -> None:
    threads: set[int] = set()

    def kernel(context: Any) -> None:
        threads.add(threading.get_ident())
        if context.input(0)[0] < 0:
            raise ValueError(f"from thread {threading.get_ident()}")
        multiply(context)

    ep = make_ep(compile=lambda self, graph, node: kernel)
    with ep_session(rt, ep, MODEL, intra_op_num_threads=3) as session:
        for number in range(20):
            product, text = run_async(rt, session, np.array([number, 1], np.float32))
            assert text is None and product.tolist() == [3 * number, 4]
        product, text = run_async(rt, session, np.array([-1, 1], np.float32))
        assert product is None and text is not None and "ValueError: from thread" in text
    assert threads and threading.get_ident() not in threads


def test_a_session_within_a_session(rt: Runtime) -> None:
    depths: list[int] = []

    def nested(devices: list[EpDevice], depth: int) -> list[float]:
        with ep_session(rt, devices, MODEL) as session:
            result: list[float] = session.run(FEEDS)[0].tolist()
        depths.append(depth)
        return result

    def compile(self: Any, graph: Any, node: Any) -> Any:
        if len(instances(type(self))) < 3:
            assert nested(found, len(instances(type(self)))) == [3, 8]

        def kernel(context: Any) -> None:
            if len(instances(type(self))) < 3:
                assert nested(found, -1) == [3, 8]
            multiply(context)

        return kernel

    with registered(rt, make_ep(compile=compile)) as found:
        assert nested(found, 0) == [3, 8]
    assert depths.count(0) == 1 and 1 in depths and 2 in depths and -1 in depths


def test_a_session_within_a_cache_function(rt: Runtime) -> None:
    seen: list[Any] = []
    with registered(rt, MulEp) as devices:

        def read(key: str) -> bytes | None:
            with ep_session(rt, devices, MODEL) as session:
                seen.append(session.run(FEEDS)[0].tolist())
            return None

        with rt.session_options() as options:
            options.set_ep_cache(read=read)
            options.append_ep(devices)
            with rt.session(MODEL, options) as session:
                assert session.run(FEEDS)[0].tolist() == [3, 8]
                assert session.ep_cache_support() == {MulEp.name: 3}
    assert seen == [[3, 8]]


def test_libraries_come_and_go_while_others_work(rt: Runtime) -> None:
    def work(number: int) -> bool:
        for _ in range(5):
            with ep_session(rt, make_ep(), MODEL) as session:
                if session.run(FEEDS)[0].tolist() != [3, 8]:
                    return False
        return True

    assert at_once(6, work) == [True] * 6
