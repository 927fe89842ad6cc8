"""Feeds and names that do not fit: each is an exception that says what to do, and the session goes on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw

from ..support.graphs import Node, TensorProto, model, tensor

X = np.ones((3, 2), np.float32)


@pytest.fixture(params=["first run", "later run"])
def session(rt: oc.Runtime, mul_model: Path, request: pytest.FixtureRequest) -> Iterator[oc.Session]:
    with rt.session(mul_model) as made:
        if request.param == "later run":
            for _ in range(4):
                made.run({"X": X})
        yield made
        assert made.run({"X": X})[0].tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("feeds", "error", "said"),
    [
        ({}, oc.InputError, "the model needs the inputs X too; none was given"),
        ({"Z": X}, oc.InputError, "the model needs the inputs X too; only Z was given"),
        ({"X": X, "Z": X}, oc.InputError, "the model has no input 'Z'; it has X"),
        ({"X": X, 3: X}, oc.InputError, "the model has no input 3; it has X"),
        ({"X": X, None: X}, oc.InputError, "the model has no input None"),
        ({"x": X}, oc.InputError, "needs the inputs X too; only x was given"),
        ({b"X": X}, oc.InputError, "needs the inputs X too"),
        ({"X": None}, TypeError, r"input 'X': it is tensor\(float\): None is no tensor"),
        ({"X": {"a": 1}}, TypeError, r"input 'X': it is tensor\(float\): a dict is no tensor"),
        ({"X": {1, 2}}, TypeError, "a set is no tensor"),
        ({"X": "text"}, oc.InputError, "input 'X': it must be tensor"),
        ({"X": object()}, oc.InputError, "input 'X': it must be tensor"),
        ({"X": X.astype(np.float64)}, oc.InputError, r"input 'X': it must be tensor\(float\); an array of float64 is"),
        ({"X": X.astype(np.int32)}, oc.InputError, r"tensor\(int32\): convert it with \.astype\('float32'\)"),
        ({"X": X.astype("M8[s]")}, oc.InputError, r"input 'X': no ONNX element type holds numpy's datetime64\[s\]"),
        ({"X": np.zeros(3, [("a", "f4")])}, oc.InputError, "input 'X': no ONNX element type holds"),
        ({"X": X.astype(object)}, oc.InputError, "input 'X': it must be tensor"),
        ({"X": np.array([["a", "b"]] * 3)}, oc.InputError, "input 'X': it must be tensor"),
        ({"X": np.ma.masked_array(X, X > 0)}, oc.InputError, "input 'X': a masked array is no tensor"),
        ({"X": [[1, 2], [3]]}, oc.InputError, "input 'X': numpy cannot make an array of this list"),
        ({"X": [[1e300, 0]] * 3}, oc.InputError, "input 'X': .*too large"),
        ([X], TypeError, "the feeds must be a dict of input name to value, not list"),
        (X, TypeError, "the feeds must be a dict of input name to value, not ndarray"),
        (None, TypeError, "the feeds must be a dict of input name to value, not NoneType"),
        ("X", TypeError, "the feeds must be a dict of input name to value, not str"),
    ],
)
def test_feeds_that_do_not_fit(session: oc.Session, feeds: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        session.run(None, feeds)
    if isinstance(feeds, dict):
        with pytest.raises(error, match=said):
            session.run(feeds)
        with pytest.raises(error, match=said):
            session.bind(feeds)


@pytest.mark.parametrize("shape", [(2, 3), (3,), (3, 2, 1), (), (0, 2), (3, 0), (6,)])
def test_a_wrong_shape_is_orts_error(session: oc.Session, shape: tuple[int, ...]) -> None:
    for _ in range(3):
        with pytest.raises(oc.OrtError, match=r"Got: .* Expected: |Invalid rank") as caught:
            session.run({"X": np.ones(shape, np.float32)})
        assert caught.value.code == raw.OrtErrorCode.ORT_INVALID_ARGUMENT
        assert caught.value.function == "Run"


@pytest.mark.parametrize(
    ("names", "error", "said"),
    [
        (["nope"], oc.InputError, "the model has no output 'nope'; it has Y"),
        (["Y", "y"], oc.InputError, "the model has no output 'y'"),
        ([""], oc.InputError, "the model has no output ''"),
        ([None], oc.InputError, "the model has no output None"),
        ("Y", TypeError, "the output names must be a list of names, not one string"),
        (b"Y", TypeError, "the output names must be a list of names, not one string"),
        (3, TypeError, "not iterable"),
    ],
)
def test_output_names_that_do_not_fit(session: oc.Session, names: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        session.run(names, {"X": X})


def test_a_feed_of_the_right_class_and_another_type_is_orts_error(rt: oc.Runtime, session: oc.Session) -> None:
    with pytest.raises(oc.OrtError, match="Unexpected input data type"):
        session.run({"X": rt.value(np.ones((3, 2)))})


def test_a_kernel_that_fails_says_so_and_the_next_run_works(rt: oc.Runtime) -> None:
    nodes = [Node("Gather", ["x", "i"], ["y"])]
    data = model(nodes, [tensor("x", [3]), tensor("i", [1], TensorProto.INT64)], [tensor("y", [1])])
    x = np.arange(3, dtype=np.float32)
    with rt.session(data) as session:
        for place in (0, 1, 99, 2, 99, 99, 0, 1, 2):
            feeds = {"x": x, "i": np.array([place])}
            if place < 3:
                assert session.run(feeds)[0].tolist() == [place]
            else:
                with pytest.raises(oc.OrtError, match="indices element out of data bounds, idx=99") as caught:
                    session.run(feeds)
                assert caught.value.function == "Run"


def test_feeds_that_change_while_they_are_read_do_not_matter(session: oc.Session) -> None:
    class Changing(dict[str, Any]):
        def values(self) -> Any:
            found = list(super().values())
            self.clear()
            return found

    feeds = Changing(X=X)
    assert session.run(feeds)[0].tolist() == [[1, 2], [3, 4], [5, 6]]
