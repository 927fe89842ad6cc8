"""Python values to what C takes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from ortcache import raw
from ortcache.core.marshal import PATH_IS_WIDE, int64_array, key_values, path_argument, pointers, string, strings
from ortcache.errors import InputError


@pytest.mark.parametrize(("text", "data"), [("", b""), ("Größe 模", "Größe 模".encode()), (b"raw \xff", b"raw \xff")])
def test_text_becomes_utf8(text: str | bytes, data: bytes) -> None:
    assert string(text) == data


@pytest.mark.parametrize(("text", "said"), [("a\0b", "NUL"), (b"a\0", "NUL"), ("\ud800", "UTF-8 can hold")])
def test_text_that_c_cannot_take_is_refused(text: str | bytes, said: str) -> None:
    with pytest.raises(InputError, match=f"the name .*{said}"):
        string(text, "the name")


@pytest.mark.parametrize("value", [None, 5, ["a"], Path("x")])
def test_what_is_no_text_is_a_type_error(value: object) -> None:
    with pytest.raises(TypeError, match="the name must be a str, not "):
        string(value, "the name")  # type: ignore[arg-type]


def test_strings_become_an_array() -> None:
    assert list(strings(["a", b"b", "ü"])) == [b"a", b"b", "ü".encode()]
    assert len(strings([])) == 0


@pytest.mark.parametrize("path", ["a b/ü.onnx", b"a b/\xc3\xbc.onnx", Path("a b/ü.onnx")])
def test_a_path_is_bytes_for_narrow_and_text_for_wide(path: str | bytes | Path) -> None:
    assert path_argument(path, wide=False) == "a b/ü.onnx".encode()
    assert path_argument(path, wide=True) == "a b/ü.onnx"


def test_a_file_name_that_is_no_text_comes_through() -> None:
    name = os.fsdecode(b"caf\xe9")
    assert path_argument(name, wide=False) == b"caf\xe9"


def test_paths_are_wide_on_windows_alone() -> None:
    assert (sys.platform == "win32") == PATH_IS_WIDE


@pytest.mark.parametrize("path", ["", b"", "a\0b", b"a\0b", "\ud800"])
@pytest.mark.parametrize("wide", [False, True])
def test_a_path_that_c_cannot_take_is_refused(path: str | bytes, wide: bool) -> None:
    if path == "\ud800" and wide:
        return  # Windows has such names
    with pytest.raises(InputError, match="model path"):
        path_argument(path, "model path", wide=wide)


@pytest.mark.parametrize("path", [None, 5, ["x"]])
def test_what_is_no_path_is_a_type_error(path: object) -> None:
    with pytest.raises(TypeError, match="model path must be a path, not "):
        path_argument(path, "model path")  # type: ignore[arg-type]


def test_options_become_two_arrays_of_text() -> None:
    names, values, count = key_values({"a": "x", "b": True, "c": False, "d": 7, "e": 0.5, "f": b"raw", "ü": "ö"})
    assert count == 7
    assert [name.decode() for name in names] == list("abcdefü")
    assert [value.decode() for value in values] == ["x", "1", "0", "7", "0.5", "raw", "ö"]


def test_no_options_are_two_empty_arrays() -> None:
    assert key_values(None)[2] == 0 and key_values({})[2] == 0


@pytest.mark.parametrize("value", [None, [1], {}, object()])
def test_an_option_that_is_neither_text_nor_number_is_named(value: object) -> None:
    with pytest.raises(TypeError, match="device option 'x' must be a str or a number"):
        key_values({"x": value}, "device option")


@pytest.mark.parametrize("options", [{"a\0": "x"}, {"a": "x\0"}])
def test_an_option_with_a_nul_is_refused(options: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"option .*NUL"):
        key_values(options)


def test_numbers_and_pointers_become_arrays() -> None:
    assert list(int64_array([3, -1, 2**62])) == [3, -1, 2**62]
    assert len(pointers(raw.OrtValue, [])) == 0
