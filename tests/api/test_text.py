"""Strings go in and come out byte for byte."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ortcache as oc

from ..support.graphs import TensorProto, identity

ITEMS = [
    "",
    "a",
    "bé",
    "日本語",
    "😀",
    "nul\0inside",
    "\0",
    "ends with nul\0",
    "line\nbreak\r\n\t",
    "\ufeffmark",
    "x" * 100_000,
    "\udcff\udc80 bytes that are no UTF-8",
]


@pytest.fixture(scope="module")
def echo(rt: oc.Runtime) -> Any:
    with rt.session(identity(TensorProto.STRING, None)) as session:
        yield session


@pytest.mark.parametrize("item", ITEMS)
def test_one_string(rt: oc.Runtime, echo: Any, item: str) -> None:
    given_array = np.array([item], object)
    assert rt.value(given_array).numpy().tolist() == [item]
    assert echo.run({"x": given_array})[0].tolist() == [item]


def test_all_of_them_in_any_shape(echo: Any) -> None:
    array = np.array(ITEMS, object).reshape(3, 4)
    for data in (array, array.T, array[::-1], array[:, :0], array[0, 0:1].reshape(())):
        (result,) = echo.run({"x": data})
        assert (result.dtype, result.shape) == (np.dtype(object), data.shape)
        assert result.tolist() == data.tolist()
        assert all(type(item) is str for item in result.ravel())


@given(items=st.lists(st.one_of(st.text(), st.binary()), max_size=8))
def test_any_text_and_any_bytes(rt: oc.Runtime, items: list[str | bytes]) -> None:
    array = np.empty(len(items), object)
    array[:] = items
    back = rt.value(array).numpy()
    expected = [item if isinstance(item, bytes) else item.encode() for item in items]
    assert [item.encode("utf-8", "surrogateescape") for item in back] == expected


@pytest.mark.parametrize("dtype", ["U", "S", object])
def test_every_dtype_for_text(echo: Any, dtype: Any) -> None:
    array = np.array([["ab", ""], ["c", "def"]]).astype(dtype)
    (result,) = echo.run({"x": array})
    assert result.tolist() == [["ab", ""], ["c", "def"]]


def test_numpys_own_string_dtype(echo: Any) -> None:
    if not hasattr(np.dtypes, "StringDType"):
        assert np.lib.NumpyVersion(np.__version__) < "2.0.0"
        return
    array = np.array(["a", "longer than the small ones are", "é"], np.dtypes.StringDType())
    assert echo.run({"x": array})[0].tolist() == array.tolist()


def test_bytes_are_taken_as_they_are(echo: Any) -> None:
    array = np.array([b"caf\xc3\xa9", b"\xff\xfe"], object)
    (result,) = echo.run({"x": array})
    assert result.tolist() == ["café", "\udcff\udcfe"]
    assert echo.run({"x": result})[0].tolist() == result.tolist()  # and back again


def test_strings_are_copies(rt: oc.Runtime) -> None:
    array = np.array(["a", "b"], object)
    value = rt.value(array)
    array[0] = "changed"
    first = value.numpy()
    first[1] = "changed"
    assert value.numpy().tolist() == ["a", "b"]
    value.close()
    assert first.tolist() == ["a", "changed"]


@pytest.mark.parametrize("item", [1, 1.5, None, ["a"], np.float32(1), object()])
def test_an_item_that_is_no_text_is_refused(echo: Any, item: Any) -> None:
    array = np.empty(2, object)
    array[0], array[1] = "a", item
    with pytest.raises(
        oc.InputError, match=rf"input 'x': a string tensor holds text; one item is {type(item).__name__}"
    ):
        echo.run({"x": array})


def test_text_that_is_no_unicode_is_refused(echo: Any) -> None:
    with pytest.raises(oc.InputError, match="input 'x': an item is no text that UTF-8 can hold"):
        echo.run({"x": np.array(["ok", "bad \ud800"], object)})


def test_many_strings(rt: oc.Runtime) -> None:
    items = [f"item {number}" for number in range(50_000)]
    assert rt.value(np.array(items, object)).numpy().tolist() == items
