"""Models from paths and bytes: those that load, and every way in which one cannot."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ortcache as oc
from ortcache import raw

from ..support.models import external_model

X = np.ones((3, 2), np.float32)


@pytest.fixture(scope="module")
def content(mul_model: Path) -> bytes:
    return mul_model.read_bytes()


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda data: memoryview(data * 2)[: len(data)]])
def test_bytes_of_any_kind(rt: oc.Runtime, content: bytes, kind: Any) -> None:
    assert rt.session(kind(content)).run({"X": X})[0].shape == (3, 2)


def test_bytes_may_change_once_the_session_is_made(rt: oc.Runtime, content: bytes) -> None:
    data = bytearray(content)
    session = rt.session(data)
    data[:] = bytes(len(data))
    assert session.run({"X": X})[0].tolist() == [[1, 2], [3, 4], [5, 6]]


@pytest.mark.parametrize("name", ["a b.onnx", "größe.onnx", "模型 😀.onnx", "no-suffix", 'it\'s "quoted".onnx'])
def test_paths_with_spaces_and_letters_of_any_kind(rt: oc.Runtime, content: bytes, tmp_path: Path, name: str) -> None:
    folder = tmp_path / "ein Ordner für 模型"
    folder.mkdir()
    path = folder / name
    path.write_bytes(content)
    for given in (path, str(path)):
        assert rt.session(given).run({"X": X})[0].shape == (3, 2)


def test_a_path_that_is_not_unicode(rt: oc.Runtime, content: bytes, tmp_path: Path) -> None:
    if sys.platform != "linux":
        assert os.fsencode("a") == b"a"  # such names are there on Linux only
        return
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.onnx"))
    path.write_bytes(content)
    assert rt.session(path).run({"X": X})[0].shape == (3, 2)


def test_a_relative_path(rt: oc.Runtime, content: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "model.onnx").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    assert rt.session("model.onnx").run({"X": X})[0].shape == (3, 2)


def test_data_in_another_file_is_found_beside_the_model(rt: oc.Runtime, tmp_path: Path) -> None:
    model, weights = external_model("gewichte 1.bin")
    (tmp_path / "model.onnx").write_bytes(model)
    (tmp_path / "gewichte 1.bin").write_bytes(weights)
    result = rt.session(tmp_path / "model.onnx").run({"X": np.ones(64, np.float32)})[0]
    assert result.tolist() == [1 + n for n in range(64)]


def test_data_in_another_file_that_is_missing_or_short_is_an_error(rt: oc.Runtime, tmp_path: Path) -> None:
    model, weights = external_model("weights.bin")
    (tmp_path / "model.onnx").write_bytes(model)
    with pytest.raises(oc.OrtError, match=r"weights\.bin"):
        rt.session(tmp_path / "model.onnx")
    (tmp_path / "weights.bin").write_bytes(weights[:-4])
    with pytest.raises(oc.OrtError, match=r"out of bounds|can not be read|larger than"):
        rt.session(tmp_path / "model.onnx")


def test_a_missing_file(rt: oc.Runtime, tmp_path: Path) -> None:
    with pytest.raises(oc.OrtError, match=r"nöthing\.onnx") as caught:
        rt.session(tmp_path / "nöthing.onnx")
    assert caught.value.code == raw.OrtErrorCode.ORT_NO_SUCHFILE
    assert caught.value.function == "CreateSession"


def test_an_empty_file_and_no_bytes(rt: oc.Runtime, tmp_path: Path) -> None:
    (tmp_path / "empty.onnx").touch()
    with pytest.raises(oc.InputError, match=r"the model file .*empty\.onnx is empty"):
        rt.session(tmp_path / "empty.onnx")
    for nothing in (b"", bytearray(), memoryview(b"")):
        with pytest.raises(oc.InputError, match="the model is empty: 0 bytes were given"):
            rt.session(nothing)


def test_every_truncated_model_is_an_error(rt: oc.Runtime, content: bytes) -> None:
    for length in range(1, len(content)):
        with pytest.raises(oc.OrtError):
            rt.session(content[:length])


def test_truncated_files_and_files_that_are_no_models(rt: oc.Runtime, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    for data in (content[:40], b"\0", b"not a model at all", b"\xff" * 5000, b"ORTM" * 100, os.urandom(300)):
        path.write_bytes(data)
        with pytest.raises(oc.OrtError):
            rt.session(path)
        with pytest.raises(oc.OrtError):
            rt.session(data)


def test_changed_bytes_are_an_error_or_another_model(rt: oc.Runtime, content: bytes) -> None:
    loaded = 0
    for place in range(len(content)):
        data = bytearray(content)
        data[place] ^= 0xFF
        try:
            rt.session(data).close()
            loaded += 1
        except oc.OrtError:
            pass
    assert 0 < loaded < len(content)


def test_a_folder(rt: oc.Runtime, tmp_path: Path) -> None:
    with pytest.raises(oc.InputError, match=r"is a folder: name the \.onnx or \.ort file in it"):
        rt.session(tmp_path)


def test_a_pipe_and_a_device_do_not_hang(rt: oc.Runtime, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        assert sys.platform == "win32"
        return
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero"), Path("/dev/null")):
        with pytest.raises(oc.InputError, match="is a pipe or a device: read it, and give the bytes"):
            rt.session(path)


def test_a_file_that_cannot_be_read(rt: oc.Runtime) -> None:
    memory = Path("/proc/self/mem")  # nobody may read its beginning, not even root
    if not memory.exists():
        assert sys.platform != "linux"
        return
    with pytest.raises((oc.InputError, oc.OrtError), match="/proc/self/mem"):
        rt.session(memory)


@pytest.mark.parametrize(
    ("model", "error", "said"),
    [
        ("", oc.InputError, "model path is empty"),
        ("a\0b", oc.InputError, "holds a NUL character"),
        ("x" * 5000, oc.InputError, "cannot be looked at: File name too long"),
        (3, TypeError, "a model is a path, or the bytes of one, not int"),
        (None, TypeError, "not NoneType"),
        (np.zeros(3, np.uint8), TypeError, "not ndarray"),
    ],
)
def test_what_is_no_model_at_all(rt: oc.Runtime, model: Any, error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        rt.session(model)


def test_a_path_below_a_file(rt: oc.Runtime, mul_model: Path) -> None:
    with pytest.raises(oc.InputError, match="cannot be looked at: Not a directory"):
        rt.session(mul_model / "model.onnx")


def test_a_failure_leaves_the_options_and_the_environment_usable(rt: oc.Runtime, content: bytes) -> None:
    options = rt.session_options(intra_op_num_threads=1)
    with pytest.raises(oc.OrtError):
        rt.session(b"junk", options)
    options.close()
    with pytest.raises(oc.ClosedError, match="this SessionOptions is closed"):
        rt.session(content, options)
    assert rt.session(content).run({"X": X})[0].shape == (3, 2)
