"""Loading: the real library from anywhere, and everything that is not one."""

from __future__ import annotations

import ctypes.util
import subprocess
from pathlib import Path

import pytest

from ortcache.core.loader import open_native
from ortcache.errors import LibraryVersionError, NotOnnxRuntimeError

from ..support.installed import package_folder
from ..support.oracles import compiler
from ..support.process import run_python

_LOAD = """
    import sys
    from ortcache.core.loader import open_native
    from ortcache.errors import NotOnnxRuntimeError
    try:
        open_native(sys.argv[1])
    except NotOnnxRuntimeError as error:
        print(error)
"""


def test_importing_the_package_loads_neither_a_library_nor_numpy() -> None:
    code = """
        import sys, ortcache
        print([name for name in ("numpy", "ctypes", "onnxruntime", "ortcache.raw") if name in sys.modules])
        print("libonnxruntime" in open("/proc/self/maps").read())
    """
    assert run_python(code).split() == ["[]", "False"]


def test_the_raw_declarations_need_no_library() -> None:
    code = """
        from ortcache import raw
        print(raw.OrtApi.__name__, len(raw.slots("OrtApi")) > 400, "libonnxruntime" in open("/proc/self/maps").read())
    """
    assert run_python(code).split() == ["OrtApi", "True", "False"]


def test_it_loads_and_runs_from_a_folder_with_spaces_and_letters_of_any_script(
    library: Path, mul_model: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "Bücher und 模型"
    folder.mkdir()
    for source in (library, mul_model):
        (folder / f"ö {source.name}").write_bytes(source.read_bytes())
    code = """
        import sys, numpy, ortcache
        rt = ortcache.load(sys.argv[1])
        print(rt.library, rt.session(sys.argv[2]).run({"X": numpy.ones((3, 2), "float32")})[0].tolist())
    """
    path = folder / f"ö {library.name}"
    printed = run_python(code, path, folder / f"ö {mul_model.name}")
    assert printed.strip() == f"{path} [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"


def test_another_library_is_told_from_onnx_runtime() -> None:
    name = ctypes.util.find_library("m")
    assert name
    maps = Path("/proc/self/maps").read_text()
    ctypes.CDLL(name)
    maps = Path("/proc/self/maps").read_text()
    path = next(line.split()[-1] for line in maps.splitlines() if "/libm" in line)
    with pytest.raises(NotOnnxRuntimeError, match="does not export OrtGetApiBase, so it is not ONNX Runtime"):
        open_native(path)


_DAMAGED = {
    "empty": b"",
    "text": b"not a library\n" * 20,
    "nothing but a header": b"\x7fELF" + bytes(60),
    "a table beyond everything": b"\x7fELF\x02\x01" + b"\xff" * 90,
}


@pytest.mark.parametrize("content", _DAMAGED.values(), ids=list(_DAMAGED))
def test_a_file_that_is_no_library_says_so(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "libonnxruntime.so"
    path.write_bytes(content)
    printed = run_python(_LOAD, path)
    assert printed.startswith(f"{path} (path given): ")


@pytest.mark.parametrize("part", [0.00003, 0.001, 0.3, 0.9, 0.99])
def test_a_truncated_library_is_an_error_and_not_the_end_of_the_process(
    part: float, library: Path, tmp_path: Path
) -> None:
    data = library.read_bytes()
    path = tmp_path / library.name
    path.write_bytes(data[: int(len(data) * part)])
    assert "the file is truncated" in run_python(_LOAD, path)


@pytest.mark.parametrize("field", [{4: 1}, {5: 2}, {18: 183, 19: 0}], ids=["32 bits", "big-endian", "other processor"])
def test_a_library_for_another_machine_says_so(field: dict[int, int], tmp_path: Path) -> None:
    data = bytearray((package_folder() / "capi" / "libonnxruntime_providers_shared.so").read_bytes())
    for offset, value in field.items():
        data[offset] = value
    path = tmp_path / "libonnxruntime.so"
    path.write_bytes(data)
    assert str(path) in run_python(_LOAD, path)


def _build(tmp_path: Path, source: str) -> Path:
    (tmp_path / "base.c").write_text(source)
    path = tmp_path / "fake.so"
    subprocess.run([compiler(), "-shared", "-fPIC", "-o", path, tmp_path / "base.c"], check=True)
    return path


@pytest.mark.filterwarnings("ignore:this process already holds another")
def test_a_library_whose_base_is_null_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotOnnxRuntimeError, match="OrtGetApiBase gives NULL"):
        open_native(_build(tmp_path, "void* OrtGetApiBase(void) { return 0; }"))


@pytest.mark.filterwarnings("ignore:this process already holds another")
def test_a_library_that_is_too_old_says_what_to_install(tmp_path: Path) -> None:
    source = """
        static const void* api(unsigned v) { return 0; }
        static const char* version(void) { return "1.17.1"; }
        static void* base[2] = {(void*)api, (void*)version};
        void* OrtGetApiBase(void) { return base; }
    """
    with pytest.raises(LibraryVersionError, match=r"ONNX Runtime 1\.17\.1 .* is too old: .*pip install -U onnxruntime"):
        open_native(_build(tmp_path, source))


def test_a_second_image_in_one_process_warns(library: Path, tmp_path: Path) -> None:
    copy = tmp_path / library.name
    copy.write_bytes(library.read_bytes())
    code = """
        import sys, warnings, ortcache
        first, second = sys.argv[1:]
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            ortcache.load(first), ortcache.load(first)
            print(len(seen))
            ortcache.load(second)
            print(len(seen), first in str(seen[0].message), second in str(seen[0].message), seen[0].filename)
    """
    assert run_python(code, library, copy).split() == ["0", "1", "True", "True", "<string>"]


def test_it_says_what_was_chosen_and_why(library: Path) -> None:
    code = """
        import ortcache
        rt = ortcache.load()
        print(rt.explain(), repr(rt), sep="\\n")
    """
    printed = run_python(code, ORTCACHE_LIBRARY=str(library))
    assert f"library: {library} (ORTCACHE_LIBRARY in the environment)" in printed
    assert "API version" in printed and "the library has API versions up to" in printed
