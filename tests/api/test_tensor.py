"""Large tensors are used where they are: no run copies them, in or out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.api.tensor import address_of

from ..support.graphs import Node, constant, identity, model, tensor
from ..support.process import run_python

#: y = the first element of x.
FIRST = model([Node("Gather", ["x", "i"], ["y"])], [tensor("x", ["n"])], [tensor("y", [1])], [constant("i", [0], "i8")])


@pytest.fixture
def addresses(rt: oc.Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, int]]]:
    """Address and size of the memory of each tensor that is made."""
    made: list[tuple[int, int]] = []
    original = rt.native.quick.CreateTensorWithDataAsOrtValue

    def watching(memory: Any, address: int, size: int, *rest: Any) -> Any:
        made.append((address, size))
        return original(memory, address, size, *rest)

    monkeypatch.setattr(rt.native.quick, "CreateTensorWithDataAsOrtValue", watching)
    yield made


def test_a_large_input_is_pointed_to_in_every_kind_of_run(rt: oc.Runtime, addresses: list[tuple[int, int]]) -> None:
    x = np.ones(25 * 1024 * 1024, np.float32)  # 100 MB
    x[0] = 7
    expected = (x.ctypes.data, x.nbytes)
    with rt.session(FIRST) as session:
        for feeds in ({"x": x}, {"x": x}, {"x": x}, {"x": rt.value(x)}):
            assert session.run(feeds)[0].tolist() == [7]
        assert session.run(["y"], {"x": x})[0].tolist() == [7]
        with session.bind({"x": x}) as binding:
            binding.run()
            assert binding.outputs["y"].tolist() == [7]
    assert [entry for entry in addresses if entry[1] > 1000] == [expected] * 6


def test_a_large_output_is_where_ort_wrote_it(rt: oc.Runtime, addresses: list[tuple[int, int]]) -> None:
    x = np.ones(1_000_000, np.float32)
    with rt.session(identity()) as session:
        first, second, third = (session.run({"x": x})[0] for _ in range(3))
        assert type(first.base).__name__ == "Result"  # the first two runs: ORT's own memory
        assert type(second.base).__name__ == "Result"
        assert third.base is None and (third.ctypes.data, third.nbytes) in addresses  # then a new array's


def test_the_peak_of_memory_does_not_rise_by_the_input() -> None:
    code = """
        import sys
        from pathlib import Path
        import numpy as np, ortcache
        from tests.api.test_tensor import FIRST
        if not Path("/proc/self/clear_refs").exists():
            print(0)
            sys.exit()
        session = ortcache.load().session(FIRST, intra_op_num_threads=1)
        x = np.ones(25 * 1024 * 1024, np.float32)
        session.run({"x": x[:1000]})
        def status(name):
            lines = Path("/proc/self/status").read_text().splitlines()
            return next(int(line.split()[1]) for line in lines if line.startswith(name)) // 1024
        Path("/proc/self/clear_refs").write_text("5")
        before = status("VmRSS")
        for _ in range(4):
            session.run({"x": x})
        print(status("VmHWM") - before)
    """
    assert int(run_python(code)) < 10, "MB, for a feed of 100"


@pytest.mark.parametrize("dtype", ["f4", "?", "c16", "i1"])
@pytest.mark.parametrize("shape", [(), (1,), (0,), (3, 4)])
def test_the_address_of_an_array(dtype: str, shape: tuple[int, ...]) -> None:
    array = np.zeros(shape, dtype)
    assert address_of(array) == array.ctypes.data or not array.size
    array.flags.writeable = False
    assert address_of(array) == array.ctypes.data
