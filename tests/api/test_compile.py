"""Model compilation, with a build that has no compiling provider: what goes in and out, and what fails."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.initializer_location import Location
from ortcache.api.runtime import load

from ..support.models import chain_model, external_model
from ..support.process import run_python

_FILE = "weights ü.bin"


def _result(rt: oc.Runtime, model: Any, x: Any) -> float:
    with rt.session(model) as session:
        return float(session.run({"X": x})[0].sum())


@pytest.mark.parametrize("form", [Path, str, lambda path: path.read_bytes(), lambda path: bytearray(path.read_bytes())])
def test_a_model_is_compiled_to_bytes(rt: oc.Runtime, mul_model: Path, x: Any, form: Any) -> None:
    compiled = rt.compile_model(form(mul_model))
    assert isinstance(compiled, bytes) and _result(rt, compiled, x) == 21


def test_a_model_is_compiled_to_a_file(rt: oc.Runtime, mul_model: Path, x: Any, tmp_path: Path) -> None:
    path = tmp_path / "übersetzt 模.onnx"
    assert rt.compile_model(mul_model, output=path) is None
    assert _result(rt, path, x) == 21
    assert path.read_bytes() == rt.compile_model(mul_model)


def test_a_model_is_compiled_to_a_function(rt: oc.Runtime, mul_model: Path) -> None:
    pieces: list[bytes] = []
    assert rt.compile_model(mul_model, output=pieces.append) is None
    assert b"".join(pieces) == rt.compile_model(mul_model)
    assert all(isinstance(piece, bytes) for piece in pieces)


class _DiskFull(Exception):
    pass


@pytest.mark.parametrize("cause", [_DiskFull("no room ü"), KeyboardInterrupt(), SystemExit(3), _DiskFull()])
def test_what_a_writing_function_raises_is_the_cause(rt: oc.Runtime, mul_model: Path, cause: BaseException) -> None:
    def write(data: bytes) -> None:
        raise cause

    with pytest.raises(oc.OrtError) as raised:
        rt.compile_model(mul_model, output=write)
    assert raised.value.__cause__ is cause
    assert raised.value.function == "CompileModel"


def test_a_writing_function_is_let_go(rt: oc.Runtime, mul_model: Path) -> None:
    class Writes:
        def __call__(self, data: bytes) -> None:
            pass

    function = Writes()
    dead = weakref.ref(function)
    rt.compile_model(mul_model, output=function)
    del function
    gc.collect()
    assert dead() is None


def test_a_function_that_cannot_be_called_so_is_an_error(rt: oc.Runtime, mul_model: Path) -> None:
    with pytest.raises(oc.OrtError) as raised:
        rt.compile_model(mul_model, output=lambda: None)
    assert isinstance(raised.value.__cause__, TypeError)


def test_the_session_options_count(rt: oc.Runtime) -> None:
    options = rt.session_options()
    options.add_free_dimension_override_by_name("none", 1)
    plain = onnx.load_from_string(rt.compile_model(chain_model(), options) or b"")
    optimized = onnx.load_from_string(rt.compile_model(chain_model(), graph_optimization_level="all") or b"")
    assert len(optimized.graph.node) < len(plain.graph.node)
    options.set_load_cancellation_flag()
    with pytest.raises(oc.OrtError) as raised:
        rt.compile_model(chain_model(), options)
    assert raised.value.code == raw.OrtErrorCode.ORT_MODEL_LOAD_CANCELED


def test_flags_make_failures(rt: oc.Runtime, mul_model: Path, tmp_path: Path) -> None:
    flags = raw.OrtCompileApiFlags
    with pytest.raises(oc.OrtError, match="Unable to compile any nodes"):
        rt.compile_model(mul_model, flags=flags.OrtCompileApiFlags_ERROR_IF_NO_NODES_COMPILED)
    path = tmp_path / "there.onnx"
    rt.compile_model(mul_model, output=path)
    rt.compile_model(mul_model, output=path)
    with pytest.raises(oc.OrtError, match="exists already"):
        rt.compile_model(mul_model, output=path, flags=flags.OrtCompileApiFlags_ERROR_IF_OUTPUT_FILE_EXISTS)


def test_initializers_go_to_a_file(rt: oc.Runtime, tmp_path: Path) -> None:
    model, data = external_model(_FILE)
    (tmp_path / _FILE).write_bytes(data)
    (tmp_path / "model.onnx").write_bytes(model)
    settings = {"external_initializers": "out ü.bin", "external_initializers_threshold": 10}
    rt.compile_model(tmp_path / "model.onnx", output=tmp_path / "out.onnx", **settings)
    assert (tmp_path / "out ü.bin").stat().st_size >= 256
    zeros = np.zeros(64, np.float32)
    with rt.session(tmp_path / "out.onnx") as session:
        assert session.run({"X": zeros})[0].tolist() == list(range(64))


def test_a_function_says_where_initializers_went(rt: oc.Runtime, tmp_path: Path) -> None:
    model, data = external_model(_FILE)
    (tmp_path / _FILE).write_bytes(data)
    (tmp_path / "model.onnx").write_bytes(model)
    seen: list[Any] = []

    def place(name: str, array: Any, before: Location | None) -> Location:
        seen.append((name, array, before))
        (tmp_path / "placed ü.bin").write_bytes(bytes(32) + array.tobytes())
        return Location("placed ü.bin", 32, array.nbytes)

    rt.compile_model(tmp_path / "model.onnx", output=tmp_path / "out.onnx", initializer_location=place)
    name, array, before = seen[0]
    assert name == "W" and array.tolist() == list(range(64))
    assert before and Path(before.path).name == _FILE and (before.offset, before.size) == (0, 256)
    tensor = onnx.load(tmp_path / "out.onnx", load_external_data=False).graph.initializer[
        -1
    ]  # 1.23 writes the old one too
    assert {entry.key: entry.value for entry in tensor.external_data}["location"] == "placed ü.bin"
    onnx.external_data_helper.load_external_data_for_tensor(tensor, str(tmp_path))
    assert onnx.numpy_helper.to_array(tensor).tolist() == list(range(64))


def test_an_initializer_without_a_new_place_stays_in_the_model(rt: oc.Runtime, mul_model: Path) -> None:
    seen: list[Any] = []
    compiled = rt.compile_model(mul_model, initializer_location=lambda *args: seen.append(args))
    assert (seen[0][0], seen[0][1].tolist(), seen[0][2]) == ("W", [[1, 2], [3, 4], [5, 6]], None)
    tensor = onnx.load_from_string(compiled or b"").graph.initializer[-1]
    assert onnx.numpy_helper.to_array(tensor).tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize(
    ("place", "cause"),
    [(lambda *_: 1 / 0, ZeroDivisionError), (lambda *_: ("f", 0, 4), TypeError), (lambda: None, TypeError),
     (lambda *_: Location("", 0, 4), oc.InputError), (lambda *_: Location("f", -1, 4), oc.InputError)],
)  # fmt: skip
def test_what_a_placing_function_does_wrong_is_the_cause(
    rt: oc.Runtime, mul_model: Path, place: Any, cause: type
) -> None:
    with pytest.raises(oc.OrtError) as raised:
        rt.compile_model(mul_model, initializer_location=place)
    assert isinstance(raised.value.__cause__, cause)


def test_the_other_settings_are_taken(rt: oc.Runtime, mul_model: Path, tmp_path: Path) -> None:
    settings = {"embed_ep_context": True, "ep_context_directory": tmp_path, "ep_context_name": "mödel"}
    if rt.api_version >= 29:
        settings["weightless"] = False
    assert rt.compile_model(mul_model.read_bytes(), **settings)


def test_a_missing_model_is_an_error(rt: oc.Runtime, tmp_path: Path) -> None:
    with pytest.raises(oc.OrtError, match="does not exist"):
        rt.compile_model(tmp_path / "gone.onnx")
    with pytest.raises(oc.OrtError):
        rt.compile_model(tmp_path)
    with pytest.raises(oc.OrtError):
        rt.compile_model(b"this is no model")


@pytest.mark.parametrize(
    ("arguments", "settings", "error", "said"),
    [
        ((b"",), {}, oc.InputError, "the model is empty"),
        (("",), {}, oc.InputError, "model path is empty"),
        (("a\0",), {}, oc.InputError, "NUL"),
        ((5,), {}, TypeError, "model path must be a path"),
        ((b"x", None, ""), {}, oc.InputError, "output is empty"),
        ((b"x", None, 5), {}, TypeError, "output must be a path"),
        ((b"x",), {"flags": 64}, oc.InputError, "flags 64 has bits that no flag has"),
        ((b"x",), {"flags": "all"}, TypeError, "flags must be a whole number"),
        ((b"x",), {"graph_optimization_level": "most"}, oc.InputError, "'most' is not one of"),
        ((b"x",), {"embed_ep_context": "yes"}, TypeError, "embed_ep_context must be True or False"),
        ((b"x",), {"ep_context_name": "x"}, oc.InputError, "belong together"),
        ((b"x",), {"external_initializers": ""}, oc.InputError, "external_initializers is empty"),
        ((b"x",), {"initializer_location": 5}, TypeError, "initializer_location must be a function"),
        (
            (b"x",),
            {"external_initializers": "f", "initializer_location": print},
            oc.InputError,
            "not both",
        ),
        ((b"x",), {"ouput": "x"}, TypeError, "ouput"),
    ],
)
def test_what_cannot_be_says_why(rt: oc.Runtime, arguments: Any, settings: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        rt.compile_model(*arguments, **settings)


def test_an_output_that_cannot_be_written_is_an_error(rt: oc.Runtime, mul_model: Path, tmp_path: Path) -> None:
    with pytest.raises(oc.OrtError, match=r"gone"):
        rt.compile_model(mul_model, output=tmp_path / "gone" / "out.onnx")


def test_a_library_without_compilation_names_both_versions(rt: oc.Runtime, mul_model: Path) -> None:
    old = load(rt.library, api_version=20)
    with pytest.raises(oc.UnsupportedFunctionError, match=r"since ONNX Runtime 1\.22; .*API version 20"):
        old.compile_model(mul_model)
    newer = load(rt.library, api_version=22)
    assert newer.compile_model(mul_model)
    with pytest.raises(oc.UnsupportedFunctionError, match=r"SetFlags is there since ONNX Runtime 1\.23; "):
        newer.compile_model(mul_model, flags=1)


def test_compiling_again_and_again_takes_no_more_memory(mul_model: Path) -> None:
    code = """
        import resource, ortcache
        from tests.support.models import external_model
        rt, (model, data) = ortcache.load(), external_model("w", 500_000)
        options = rt.session_options()
        options.add_external_initializers_from_files_in_memory({"w": data})
        def peak():
            for _ in range(25):
                assert len(rt.compile_model(model, options)) > 2_000_000
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        first = peak()
        print(peak() - first < 20_000)  # kilobytes; they would be 50,000
    """
    assert run_python(code).strip() == "True"
