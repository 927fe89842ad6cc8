"""The digest of a model: its bytes and those of its weights, and nothing else."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

import pytest

import ortcache as oc
from ortcache.errors import InputError
from ortcache.scope import model_digest

from ..support.models import add_model
from ..support.oracles import need
from ..support.process import run_python
from .models import PLACES, external, model_of

WEIGHTS = bytes(range(24))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model with external data, in a folder of its own."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(model_of(external("w.bin")).SerializeToString())
    (folder / "w.bin").write_bytes(WEIGHTS)
    return folder


def locate(folder: Path, location: str) -> Path:
    (folder / "m.onnx").write_bytes(model_of(external(location)).SerializeToString())
    return folder / "m.onnx"


def test_of_a_model_in_one_file_it_is_what_sha256sum_says(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(add_model())
    said = f"sha256:{hashlib.sha256(add_model()).hexdigest()}"
    assert model_digest(path) == model_digest(str(path)) == said
    assert model_digest(add_model()) == model_digest(bytearray(add_model())) == model_digest(memoryview(add_model()))
    assert model_digest(add_model()) == said


def test_any_byte_of_a_model_counts(tmp_path: Path) -> None:
    data = add_model()
    path = tmp_path / "m.onnx"
    seen = {model_digest(data)}
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
        seen.add(model_digest(path))
    assert len(seen) == len(data) + 1


@pytest.mark.parametrize("place", PLACES)
def test_any_byte_of_external_weights_counts_wherever_they_belong(tmp_path: Path, place: str) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(PLACES[place](external("w.bin")).SerializeToString())
    seen = set()
    for weights in (WEIGHTS, WEIGHTS[:-1], WEIGHTS + b"!", b"\1" + WEIGHTS[1:], WEIGHTS[:-1] + b"\0", b""):
        (tmp_path / "w.bin").write_bytes(weights)
        seen.add(model_digest(path))
    assert len(seen) == 6


@pytest.mark.parametrize(("name", "old", "new"), [("m.onnx", b"graph", b"GRAPH"), ("w.bin", b"\x05", b"\x15")])
def test_new_bytes_of_the_same_path_size_and_time_are_another_model(
    folder: Path, name: str, old: bytes, new: bytes
) -> None:
    before, status = model_digest(folder / "m.onnx"), (folder / name).stat()
    with (folder / name).open("r+b") as file:
        data = file.read()
        file.seek(0)
        file.write(data.replace(old, new))
    os.utime(folder / name, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = (folder / name).stat()
    assert (after.st_size, after.st_mtime_ns, after.st_ino) == (status.st_size, status.st_mtime_ns, status.st_ino)
    assert model_digest(folder / "m.onnx") != before


def test_the_same_bytes_at_another_path_are_the_same_model(folder: Path, tmp_path: Path) -> None:
    other = tmp_path / "日本 é"
    shutil.copytree(folder, other)
    (other / "m.onnx").rename(other / "renamed.onnx")
    assert model_digest(other / "renamed.onnx") == model_digest(folder / "m.onnx")


def test_what_lies_in_which_file_counts(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(external("a", name="A"), external("b", name="B")).SerializeToString())
    seen = set()
    for a, b in ((b"1", b"2"), (b"2", b"1"), (b"12", b""), (b"", b"12")):
        (tmp_path / "a").write_bytes(a)
        (tmp_path / "b").write_bytes(b)
        seen.add(model_digest(path))
    assert len(seen) == 4


def test_the_bytes_of_a_model_need_a_folder_for_its_external_data(folder: Path) -> None:
    data = (folder / "m.onnx").read_bytes()
    with pytest.raises(InputError, match=r"external data \('w.bin', …\): give its path, or external_data="):
        model_digest(data)
    assert model_digest(data, folder) == model_digest(folder / "m.onnx")


def test_external_data_may_lie_in_another_folder(folder: Path, tmp_path: Path) -> None:
    before = model_digest(folder / "m.onnx")
    (tmp_path / "data").mkdir()
    (folder / "w.bin").rename(tmp_path / "data" / "w.bin")
    assert model_digest(folder / "m.onnx", tmp_path / "data") == before
    with pytest.raises(InputError, match=r"'w\.bin', which cannot be read"):
        model_digest(folder / "m.onnx")


def test_memory_does_not_grow_with_the_model(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    path = tmp_path / "m.onnx"
    path.write_bytes(model_of(external("w.bin")).SerializeToString())
    with (tmp_path / "w.bin").open("wb") as file:
        file.truncate(512 << 20)
    grown = run_python(
        """
        import resource, sys
        from ortcache.scope import model_digest
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        model_digest(sys.argv[1])
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        """,
        path,
    )
    assert int(grown) < 64 << 10  # kilobytes


def test_an_ort_format_model_is_its_bytes(tmp_path: Path) -> None:
    data = b"\x18\0\0\0ORTM" + b"\xff\xfe location \xff" * 20
    path = tmp_path / "m.ort"
    path.write_bytes(data)
    assert model_digest(path) == model_digest(data) == f"sha256:{hashlib.sha256(data).hexdigest()}"


@pytest.mark.parametrize("chunk", [1, 7, 8, 9, 64, 1 << 20])
def test_what_may_name_external_data_and_is_no_whole_model_is_refused(
    folder: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ortcache.scope.model._CHUNK", chunk)
    data = (folder / "m.onnx").read_bytes()
    (folder / "m.onnx").write_bytes(data[:-20])
    with pytest.raises(InputError, match="not a whole ONNX file"):
        model_digest(folder / "m.onnx")


def test_what_names_none_is_its_bytes_whatever_it_is() -> None:
    assert model_digest(b"\xff" * 100) == f"sha256:{hashlib.sha256(bytes([255]) * 100).hexdigest()}"


REFUSED = ["../w.bin", "sub/../../w.bin", "/etc/passwd", "C:\\w.bin", "\\w.bin", "missing.bin", "", "sub", "a\0b",
           "out_link", "out_folder/w.bin", "loop"]  # fmt: skip
ALLOWED = ["w.bin", "./w.bin", "sub/w.bin", "sub/../w.bin", "in_link", "../model/w.bin"]


def places(folder: Path) -> None:
    (folder / "sub").mkdir()
    (folder.parent / "out").mkdir()
    for place in (folder / "sub", folder.parent, folder.parent / "out"):
        (place / "w.bin").write_bytes(WEIGHTS)
    for name, target in (("in_link", "w.bin"), ("out_link", "../w.bin"), ("out_folder", "../out"), ("loop", "loop")):
        (folder / name).symlink_to(target)


@pytest.mark.parametrize("location", REFUSED)
def test_a_location_that_onnx_runtime_refuses_is_refused(rt: oc.Runtime, folder: Path, location: str) -> None:
    places(folder)
    path = locate(folder, location)
    with pytest.raises(InputError, match="external data"):
        model_digest(path)
    if tuple(map(int, rt.version.split(".")[:2])) >= (1, 32):
        with pytest.raises(oc.OrtError):
            rt.session(path)


@pytest.mark.parametrize("location", ALLOWED)
def test_a_location_that_onnx_runtime_reads_is_read(rt: oc.Runtime, folder: Path, location: str) -> None:
    places(folder)
    path = locate(folder, location)
    assert "external:" in model_digest(path)
    if tuple(map(int, rt.version.split(".")[:2])) >= (1, 32):
        rt.session(path).close()


def test_a_model_behind_a_link_has_its_data_beside_what_the_link_leads_to(rt: oc.Runtime, folder: Path) -> None:
    hub = folder.parent / "hub"
    hub.mkdir()
    (hub / "model.onnx").symlink_to("../model/m.onnx")
    (hub / "w.bin").symlink_to("../model/w.bin")
    assert model_digest(hub / "model.onnx") == model_digest(folder / "m.onnx")
    if tuple(map(int, rt.version.split(".")[:2])) >= (1, 32):
        rt.session(hub / "model.onnx").close()


def test_what_is_no_file_is_refused_and_not_waited_for(folder: Path) -> None:
    need("linux", sys.platform == "linux")
    os.mkfifo(folder / "pipe")
    for path in (folder / "pipe", folder, folder / "absent.onnx"):
        with pytest.raises(InputError, match=r"the model: .* is (no file|not there)"):
            model_digest(path)
    with pytest.raises(InputError, match="pipe is no file"):
        model_digest(locate(folder, "pipe"))


@pytest.mark.parametrize("model", ["a\0b", ""])
def test_a_path_that_cannot_be_one_is_refused(model: str) -> None:
    with pytest.raises(InputError, match="the model"):
        model_digest(model)
