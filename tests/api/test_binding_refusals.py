"""What cannot be bound is refused, before anything is written or read wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc

X = np.arange(6, dtype=np.float32).reshape(3, 2)


@pytest.fixture(scope="module")
def session(rt: oc.Runtime, mul_model: Path) -> Iterator[oc.Session]:
    with rt.session(mul_model) as made:
        yield made


def _frozen() -> Any:
    array = np.zeros((3, 2), np.float32)
    array.flags.writeable = False
    return array


_WIDE = np.zeros((2, 3), np.float32)
_UNALIGNED = np.zeros(25, np.uint8)[1:].view(np.float32).reshape(3, 2)


@pytest.mark.parametrize(
    ("x", "said"),
    [
        (_WIDE.T, "a bound array is used in place, and this one is not C-contiguous and aligned in this machine's"),
        (np.zeros((3, 4), np.float32)[:, ::2], "used in place"),
        (X[::-1], "used in place"),
        (X.astype(">f4"), r"bind numpy\.array\(array, 'float32', order='C'\)"),
        (_UNALIGNED, "used in place"),
        (X.astype(np.float64), r"input 'X': it must be tensor\(float\); an array of float64"),
        (np.ma.masked_array(X), "input 'X': a masked array is no tensor"),
    ],
)
def test_an_input_that_cannot_be_used_in_place_is_refused(session: oc.Session, x: Any, said: str) -> None:
    with pytest.raises(oc.InputError, match=said):
        session.bind({"X": x})


def test_an_input_may_be_read_only(session: oc.Session) -> None:
    with session.bind({"X": _frozen()}) as binding:
        binding.run()
        assert not binding.outputs["Y"].any()


@pytest.mark.parametrize(
    ("y", "error", "said"),
    [
        (_frozen(), oc.InputError, "output 'Y': the array must be C-contiguous, aligned and writeable"),
        (_WIDE.T, oc.InputError, "output 'Y': the array must be C-contiguous, aligned and writeable"),
        (_UNALIGNED, oc.InputError, "output 'Y': the array must be C-contiguous, aligned and writeable"),
        (X.astype(">f4"), oc.InputError, r"output 'Y' is tensor\(float\): an array of >f4 cannot take it"),
        (X.astype(np.float64), oc.InputError, "an array of float64 cannot take it"),
        (X.astype(object), oc.InputError, "an array of object cannot take it"),
        (np.zeros((2, 3), np.float32), oc.InputError, r"output 'Y' will be of shape \(3, 2\); the array's is \(2, 3\)"),
        (X.tolist(), TypeError, "output 'Y': bind an array, a Value or None, not list"),
        (np.ma.masked_array(X), TypeError, "bind an array, a Value or None, not MaskedArray"),
    ],
)
def test_an_output_that_cannot_be_written_is_refused(session: oc.Session, y: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        session.bind({"X": X}, {"Y": y})


def test_names_that_are_not_there_are_refused(session: oc.Session) -> None:
    for outputs in ({"Z": None}, ["Y", "Z"]):
        with pytest.raises(oc.InputError, match="the model has no output 'Z'; it has Y"):
            session.bind({"X": X}, outputs)
    with pytest.raises(TypeError, match="the output names must be a list of names, not one string"):
        session.bind({"X": X}, "Y")
    with pytest.raises(oc.InputError, match="the model needs the inputs X too; none was given"):
        session.bind()


def test_a_shape_that_the_model_does_not_take_is_orts_error_at_the_run(session: oc.Session) -> None:
    with session.bind({"X": np.zeros((2, 3), np.float32)}) as binding:
        for _ in range(2):
            with pytest.raises(oc.OrtError, match="Got invalid dimensions for input: X") as caught:
                binding.run()
            assert caught.value.function == "RunWithBinding"
