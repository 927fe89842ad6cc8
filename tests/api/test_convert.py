"""Sequences, maps and optionals in and out, and what is refused."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache.api.convert import feed_value
from ortcache.api.element import element
from ortcache.api.typeinfo import TypeInfo, ValueInfo

from ..support.graphs import Node, TensorProto, model, of_type, optional, sequence, tensor
from ..support.installed import dataset

ARRAYS = [np.arange(3, dtype=np.float32), np.ones((2, 2), np.float32), np.zeros((0, 1), np.float32)]


def _echo(rt: oc.Runtime, kind: Any, operator: str = "Identity") -> oc.Session:
    return rt.session(model([Node(operator, ["x"], ["y"])], [of_type("x", kind)], [of_type("y", kind)]))


def _value(rt: oc.Runtime, info: ValueInfo, data: Any) -> oc.Value:
    made = feed_value(rt.native, info, data)
    assert not isinstance(made, oc.Value)
    return oc.Value.of(rt.native, made)


@pytest.fixture(scope="module")
def floats(rt: oc.Runtime) -> Iterator[oc.Session]:
    """y = x, sequences of float tensors."""
    with _echo(rt, sequence()) as session:
        yield session


@pytest.fixture(scope="module")
def maybe(rt: oc.Runtime) -> Iterator[oc.Session]:
    """Is there a float tensor x? And x again."""
    nodes = [Node("OptionalHasElement", ["x"], ["there"]), Node("Identity", ["x"], ["y"])]
    outputs = [tensor("there", [], TensorProto.BOOL), of_type("y", optional())]
    with rt.session(model(nodes, [of_type("x", optional())], outputs)) as session:
        yield session


@pytest.mark.parametrize("make", [list, tuple, lambda arrays: [array.tolist() for array in arrays[:2]]])
def test_a_sequence_comes_back_as_a_list_of_arrays(floats: oc.Session, make: Any) -> None:
    given = make(ARRAYS)
    (result,) = floats.run({"x": given})
    assert type(result) is list and len(result) == len(given)
    for back, array in zip(result, ARRAYS, strict=False):
        assert back.dtype == np.float32 and back.tolist() == array.tolist() and back.shape == array.shape


def test_an_array_is_a_sequence_of_its_rows(floats: oc.Session) -> None:
    (result,) = floats.run({"x": np.arange(6, dtype=np.float32).reshape(3, 2)})
    assert [row.tolist() for row in result] == [[0, 1], [2, 3], [4, 5]]


def test_sequences_hold_arrays_of_any_layout_and_values(rt: oc.Runtime, floats: oc.Session) -> None:
    grid = np.arange(6, dtype=np.float32).reshape(2, 3)
    value = rt.value(grid)
    (result,) = floats.run({"x": [grid.T, grid[::-1], value]})
    value.close()
    assert [part.tolist() for part in result] == [grid.T.tolist(), grid[::-1].tolist(), grid.tolist()]


@pytest.mark.parametrize("kind", [TensorProto.FLOAT, TensorProto.INT64, TensorProto.STRING, TensorProto.BOOL])
def test_an_empty_sequence(rt: oc.Runtime, kind: int) -> None:
    session = _echo(rt, sequence(kind))
    for _ in range(3):
        assert session.run({"x": []}) == [[]]


def test_a_sequence_of_strings(rt: oc.Runtime) -> None:
    (result,) = _echo(rt, sequence(TensorProto.STRING)).run({"x": [["a", "b\0"], np.array("é", object)]})
    assert [part.tolist() for part in result] == [["a", "b\0"], "é"]


def test_an_optional_without_a_value(maybe: oc.Session) -> None:
    for feeds in ({"x": None}, {}):
        assert maybe.run(feeds)[0].tolist() is False
        assert maybe.run(["y"], feeds) == [None]


def test_an_optional_with_a_value(maybe: oc.Session) -> None:
    there, back = maybe.run({"x": ARRAYS[0]})
    assert there.tolist() is True and back.tolist() == [0, 1, 2]


def test_an_optional_sequence(rt: oc.Runtime) -> None:
    nodes = [Node("OptionalHasElement", ["x"], ["y"])]
    session = rt.session(model(nodes, [of_type("x", optional(sequence()))], [tensor("y", [], TensorProto.BOOL)]))
    assert [session.run({"x": given})[0].tolist() for given in (ARRAYS, [], None)] == [True, True, False]


def test_an_output_that_is_an_optional_made_of_a_tensor(rt: oc.Runtime) -> None:
    with rt.session(model([Node("Optional", ["x"], ["y"])], [tensor("x", [3])], [of_type("y", optional())])) as session:
        assert session.run({"x": ARRAYS[0]})[0].tolist() == [0, 1, 2]


def test_a_sequence_of_maps_comes_back_as_dicts(rt: oc.Runtime) -> None:
    with rt.session(dataset("logreg_iris.onnx")) as session:
        labels, chances = session.run({session.inputs[0].name: np.ones((3, 2), np.float32)})
    assert labels.dtype == np.int64
    assert [type(chance) for chance in chances] == [dict] * 3
    assert all(type(key) is int and type(value) is float for key, value in chances[0].items())


@pytest.mark.parametrize("keys", [[3, 1, 2], ["c", "a", "b"]])
def test_a_map_goes_in_and_comes_back(rt: oc.Runtime, keys: list[Any]) -> None:
    info = TypeInfo(3, element(7 if isinstance(keys[0], int) else 8), contained=TypeInfo(1, element(1), ()))
    given = OrderedDict(zip(keys, [0.5, 1, np.float32(2)], strict=True))
    value = _value(rt, ValueInfo("m", info), given)
    assert value.type == f"map({info.element.name if info.element else ''},tensor(float))"
    assert value.numpy() == {key: float(number) for key, number in given.items()}
    assert _value(rt, ValueInfo("m", info), {}).numpy() == {}


def test_a_sequence_keeps_what_it_is_made_of(rt: oc.Runtime) -> None:
    info = ValueInfo("s", TypeInfo(2, contained=TypeInfo(1, element(1))))
    items = [rt.value(np.full(100_000, number, np.float32)) for number in range(5)]
    value = _value(rt, info, items)
    for item in items:
        item.close()
    del items, item
    assert [(part[0], part[-1]) for part in value.numpy()] == [(n, n) for n in range(5)]


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ("abc", TypeError, r"input 'x': it is seq\(tensor\(float\)\): give a list, not str"),
        ({"a": 1}, TypeError, "give a list, not dict"),
        (1.0, TypeError, "give a list, not float"),
        (None, TypeError, "give a list, not NoneType"),
        ((n for n in ARRAYS), TypeError, "give a list, not generator"),
        ([ARRAYS[0], None], TypeError, r"input 'x': it is tensor\(float\): None is no tensor"),
        ([np.ones(2)], oc.InputError, r"input 'x': it must be tensor\(float\); an array of float64"),
        ([ARRAYS[0], "text"], oc.InputError, "input 'x'"),
    ],
)
def test_what_is_no_sequence_is_refused(floats: oc.Session, given: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        floats.run({"x": given})


def test_a_map_that_does_not_fit_is_refused(rt: oc.Runtime) -> None:
    info = ValueInfo("m", TypeInfo(3, element(7), contained=TypeInfo(1, element(1), ())))
    for given in ([1], 1, "a"):
        with pytest.raises(TypeError, match=r"input 'm': it is map\(int64,tensor\(float\)\): give a dict"):
            feed_value(rt.native, info, given)
    for odd in ({"a": 1.0}, {1: "a"}, {1.5: 1.0}, {1: 1j}):
        with pytest.raises(oc.InputError, match="input 'm'"):
            feed_value(rt.native, info, odd)


def test_a_type_without_a_form_in_python_is_refused(rt: oc.Runtime) -> None:
    for kind in (4, 5):
        with pytest.raises(oc.InputError, match="which has no form in Python here"):
            feed_value(rt.native, ValueInfo("x", TypeInfo(kind, element(1))), [1])


def test_a_value_of_another_library_is_refused(rt: oc.Runtime, floats: oc.Session) -> None:
    class Other:
        base = 0

    value = rt.value(ARRAYS[0])
    value.native = Other()  # type: ignore[assignment]
    with pytest.raises(oc.InputError, match="input 'x': this Value belongs to another ONNX Runtime library"):
        floats.run({"x": value})
    value.native = rt.native


def test_a_closed_value_is_refused(rt: oc.Runtime, floats: oc.Session) -> None:
    value = rt.value(ARRAYS[0])
    value.close()
    with pytest.raises(oc.ClosedError, match="input 'x': this Value is closed"):
        floats.run({"x": [value]})
