"""Initializers and files that replace a model's own, and custom operator libraries: what must stay in memory stays."""

from __future__ import annotations

import ctypes.util
import gc
import subprocess
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc

from ..support.models import add_model, external_model
from ..support.oracles import compiler
from ..support.process import run_python

_X = np.zeros((1, 2), np.float32)
_FILE = "gewichte ü.bin"
_ZEROS = np.zeros(64, np.float32)


def _sum(session: Any) -> list[float]:
    return session.run({"X": _X})[0].tolist()[0]


@pytest.mark.parametrize("form", ["array", "value", "list"])
def test_an_initializer_takes_the_models_place(rt: oc.Runtime, form: str) -> None:
    array = np.array([1, 2], np.float32)
    options = rt.session_options()
    options.add_initializer("W", {"array": array, "value": rt.value(array), "list": array[::1]}[form])
    with rt.session(add_model(), options) as session:
        assert _sum(session) == [2, 4]


def test_an_initializer_stays_as_long_as_options_clones_or_sessions_use_it(rt: oc.Runtime) -> None:
    array = np.array([3, 4], np.float32)
    dead = weakref.ref(array)
    value, options = rt.value(array), rt.session_options()
    options.add_initializer("W", value)
    value.close()
    del array, value
    clone = options.clone()
    options.close()
    with rt.session(add_model(), clone) as session:
        clone.close()
        gc.collect()
        np.full(1000, 9.0, np.float32)  # what would overwrite memory that was freed
        assert _sum(session) == [6, 8] and dead() is not None
    gc.collect()
    assert dead() is None


def test_sessions_share_one_initializer(rt: oc.Runtime) -> None:
    array = np.array([1, 1], np.float32)
    options = rt.session_options(graph_optimization_level="disable_all")
    options.add_initializer("W", array)
    sessions = [rt.session(add_model(), options) for _ in range(2)]
    array[:] = 5  # each points to it
    assert [_sum(session) for session in sessions] == [[10, 10], [10, 10]]
    for session in sessions:
        session.close()


def test_one_name_holds_one_initializer(rt: oc.Runtime) -> None:
    options = rt.session_options()
    options.add_initializer("W", _ZEROS)
    with pytest.raises(oc.OrtError, match="W"):
        options.add_initializer("W", _ZEROS)


def test_an_initializer_of_a_shape_that_does_not_fit_the_model_is_an_error(rt: oc.Runtime) -> None:
    options = rt.session_options()
    options.add_initializer("W", np.zeros(3, np.float32))
    with rt.session(add_model(), options) as session:
        with pytest.raises(oc.OrtError):
            session.run({"X": _X})


def test_an_initializer_of_strings_is_refused(rt: oc.Runtime) -> None:
    with pytest.raises(oc.OrtError, match="must be owned by the user"):
        rt.session_options().add_initializer("W", np.array(["a", "b"]))


@pytest.mark.parametrize(("name", "error"), [("", oc.InputError), ("a\0", oc.InputError), (5, TypeError)])
def test_a_name_that_is_none_is_refused(rt: oc.Runtime, name: Any, error: Any) -> None:
    options = rt.session_options()
    for add in (
        lambda: options.add_initializer(name, _ZEROS),
        lambda: options.add_external_initializers({name: _ZEROS}),
    ):
        with pytest.raises(error):
            add()


def test_external_initializers_replace_a_file_that_is_not_there(rt: oc.Runtime) -> None:
    model, _ = external_model(_FILE)
    options = rt.session_options()
    options.add_external_initializers({"W": np.full(64, 3, np.float32)})
    clone = options.clone()
    options.close()
    gc.collect()
    with rt.session(model, clone) as session:
        assert session.run({"X": _ZEROS})[0].tolist() == [3] * 64


@pytest.mark.parametrize("form", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.float32)])
def test_files_in_memory_replace_files_that_are_not_there(rt: oc.Runtime, form: Any) -> None:
    model, data = external_model(_FILE)
    options = rt.session_options()
    options.add_external_initializers_from_files_in_memory({_FILE: form(data)})
    clone = options.clone()
    options.close()
    gc.collect()
    with rt.session(model, clone) as session:
        assert session.run({"X": _ZEROS})[0].tolist() == list(range(64))


def test_a_file_in_memory_is_free_once_the_session_is_there(rt: oc.Runtime) -> None:
    model, data = external_model(_FILE)
    buffer, options = bytearray(data), rt.session_options()
    options.add_external_initializers_from_files_in_memory({_FILE: buffer})
    with pytest.raises(BufferError):
        buffer.clear()  # C points to it
    session = rt.session(model, options)
    options.close()
    gc.collect()
    buffer[:] = bytes(len(buffer))
    buffer.clear()
    assert session.run({"X": _ZEROS})[0].tolist() == list(range(64))
    session.close()


@pytest.mark.parametrize(
    ("files", "error", "said"),
    [
        ({}, oc.InputError, "no files: the mapping is empty"),
        ([("a", b"x")], TypeError, "files must be a mapping"),
        ({"a": b""}, oc.InputError, "the file 'a' is empty"),
        ({"a": "text"}, oc.InputError, "must be bytes or a contiguous buffer"),
        ({"a": np.zeros((4, 4))[:, ::2]}, oc.InputError, "contiguous"),
        ({"": b"x"}, oc.InputError, "file name is empty"),
        ({"a\0": b"x"}, oc.InputError, "NUL"),
    ],
)
def test_files_that_cannot_be_say_why(rt: oc.Runtime, files: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        rt.session_options().add_external_initializers_from_files_in_memory(files)


def test_a_file_in_memory_that_is_too_short_is_an_error(rt: oc.Runtime) -> None:
    model, data = external_model(_FILE)
    options = rt.session_options()
    options.add_external_initializers_from_files_in_memory({_FILE: data[:100]})
    with pytest.raises(oc.OrtError):
        rt.session(model, options)


@pytest.fixture(scope="module")
def custom_ops(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A custom operator library that registers nothing, and one that fails."""
    folder = tmp_path_factory.mktemp("custom öps")
    for name, body in {"good": "return 0;", "none": "return 0;"}.items():
        exported = "RegisterCustomOps" if name == "good" else "SomethingElse"
        (folder / f"{name}.c").write_text(f"void* {exported}(void* options, void* api) {{ {body} }}")
        command = [compiler(), "-shared", "-fPIC", "-o", folder / f"{name} lib.so", folder / f"{name}.c"]
        subprocess.run(command, check=True)
    return folder


def test_a_custom_operator_library_is_loaded(rt: oc.Runtime, custom_ops: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = rt.session_options()
    options.register_custom_ops_library(custom_ops / "good lib.so")
    monkeypatch.chdir(custom_ops)
    options.register_custom_ops_library("good lib.so")  # a file here, not a name for the system
    clone = options.clone()
    options.close()
    with rt.session(add_model(), clone) as session:
        clone.close()
        assert _sum(session) == [20, 40]


def test_what_is_no_custom_operator_library_is_an_error(rt: oc.Runtime, custom_ops: Path) -> None:
    options = rt.session_options()
    with pytest.raises(oc.OrtError, match="RegisterCustomOps"):
        options.register_custom_ops_library(custom_ops / "none lib.so")
    with pytest.raises(oc.OrtError):
        options.register_custom_ops_library(ctypes.util.find_library("m") or "libm.so.6")
    with pytest.raises(oc.InputError, match=r"there is no custom operator library .*gone\.so"):
        options.register_custom_ops_library(custom_ops / "gone.so")
    with pytest.raises(oc.OrtError):
        options.register_custom_ops_library("no-library-of-that-name.so")


def test_a_truncated_custom_operator_library_is_an_error_and_not_the_end(custom_ops: Path, tmp_path: Path) -> None:
    data = (custom_ops / "good lib.so").read_bytes()
    (tmp_path / "cut.so").write_bytes(data[: len(data) // 2])
    code = """
        import sys, ortcache
        try:
            ortcache.load().session_options().register_custom_ops_library(sys.argv[1])
        except ortcache.InputError as error:
            print(error)
    """
    assert "the file is truncated" in run_python(code, tmp_path / "cut.so")
