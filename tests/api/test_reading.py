"""OrtValues that the C functions made, for Python; and those that Python must keep its hands off."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw

from ..support.graphs import Node, TensorProto, helper, model, of_type, optional


def _tensor_in(rt: oc.Runtime, name: bytes, array: Any) -> oc.Value:
    """A tensor over the array that says it is in some device's memory."""
    memory, out = ctypes.POINTER(raw.OrtMemoryInfo)(), ctypes.POINTER(raw.OrtValue)()
    device, default = raw.OrtAllocatorType.OrtDeviceAllocator, raw.OrtMemType.OrtMemTypeDefault
    rt.api.CreateMemoryInfo(name, device, 0, default, ctypes.byref(memory))
    shape = (ctypes.c_int64 * array.ndim)(*array.shape)
    rt.api.CreateTensorWithDataAsOrtValue(
        memory, array.ctypes.data, array.nbytes, shape, array.ndim, TensorProto.FLOAT, ctypes.byref(out)
    )
    rt.api.ReleaseMemoryInfo(memory)
    return oc.Value(rt.native, out, keep=(array,))


def _nothing(rt: oc.Runtime) -> oc.Value:
    """An optional without a value, as an operator makes it."""
    node = Node("Optional", [], ["y"], type=helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    with rt.session(model([node], [], [of_type("y", optional())])) as session:
        out, names = ctypes.POINTER(raw.OrtValue)(), (ctypes.c_char_p * 1)(b"y")
        rt.api.Run(session, None, None, None, 0, names, 1, ctypes.byref(out))
        return oc.Value(rt.native, out)


def test_a_devices_memory_is_not_read(rt: oc.Runtime) -> None:
    value = _tensor_in(rt, b"Cuda", np.ones(3, np.float32))
    with pytest.raises(oc.InputError, match="in a device's memory: bind the output to the CPU to read it"):
        value.numpy()
    assert (value.type, value.shape) == ("tensor(float)", (3,))


def test_a_devices_memory_that_the_cpu_reaches_is_read(rt: oc.Runtime) -> None:
    array = np.arange(3, dtype=np.float32)
    assert np.shares_memory(_tensor_in(rt, b"CudaPinned", array).numpy(), array)


def test_nothing_is_none_and_no_crash(rt: oc.Runtime) -> None:
    value = _nothing(rt)
    assert value.numpy() is None
    assert value.kind == raw.ONNXType.ONNX_TYPE_UNKNOWN
    assert (value.type, repr(value)) == ("opaque", "<ortcache.Value opaque>")
    with pytest.raises(oc.OrtError, match="must contain a constructed tensor"):
        _ = value.shape


def test_nothing_as_a_feed_is_refused_and_no_crash(rt: oc.Runtime) -> None:
    node = Node("OptionalHasElement", ["x"], ["y"])
    data = model([node], [of_type("x", optional())], [helper.make_tensor_value_info("y", TensorProto.BOOL, [])])
    with rt.session(data) as session:
        with pytest.raises(oc.InputError, match="input 'x': this Value has nothing in it: give None"):
            session.run({"x": _nothing(rt)})
        assert session.run({"x": None})[0].tolist() is False


def test_an_output_that_is_nothing(rt: oc.Runtime) -> None:
    node = Node("Optional", [], ["y"], type=helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    with rt.session(model([node], [], [of_type("y", optional())])) as session:
        assert session.run({}) == [None]
        with session.bind() as binding:
            binding.run()
            assert binding.outputs == {"y": None}


def test_a_borrowed_value_is_not_released(rt: oc.Runtime) -> None:
    array = np.arange(3, dtype=np.float32)
    owner = rt.value(array)
    borrowed = oc.Value(rt.native, owner._pointer, owned=False)
    assert borrowed.numpy().tolist() == [0, 1, 2]
    borrowed.close()
    del borrowed
    assert owner.numpy().tolist() == [0, 1, 2]
