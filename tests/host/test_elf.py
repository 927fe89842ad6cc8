from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from ortcache.errors import HostError
from ortcache.host import shim
from ortcache.host.elf import MACHINES, shared_object
from ortcache.host.shim import Shim, check_platform

from ..support.oracles import need

here = pytest.mark.skipif(
    os.name != "posix" or platform.machine() not in MACHINES or not hasattr(os, "memfd_create"),
    reason="the host does not cover this platform",
)


def _address(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


@here
def test_the_functions_jump_to_their_addresses_with_arguments_and_result() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 8, ctypes.c_double)
    calls: list[tuple[object, ...]] = []

    def answer(*args: object) -> int:
        calls.append(args)
        return 2**40 + len(calls)

    functions = {"First": kind(answer), "Second_function": kind(lambda *args: -1)}
    library = Shim({name: _address(f) for name, f in functions.items()})
    loaded = ctypes.CDLL(library.path)
    first = kind(_address(loaded.First))
    assert first(1, 2, 3, 4, 5, 6, 7, 8, 0.5) == 2**40 + 1
    assert calls == [(1, 2, 3, 4, 5, 6, 7, 8, 0.5)]
    assert kind(_address(loaded.Second_function))(*range(8), 0.0) == -1
    assert not hasattr(loaded, "Third")
    library.loaded()


@here
def test_several_shims_at_once_are_several_libraries() -> None:
    kind = ctypes.CFUNCTYPE(ctypes.c_int)
    functions = [kind(lambda i=i: i) for i in range(20)]
    shims = [Shim({"Function": _address(f)}) for f in functions]
    loaded = [ctypes.CDLL(shim.path) for shim in shims]
    for one in shims:
        one.loaded()
        one.loaded()
        assert not Path(one.path).exists()
    assert [kind(_address(library.Function))() for library in loaded] == list(range(20))


@here
def test_without_memory_files_a_temporary_one_is_used_and_goes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def refuse(*args: object) -> int:
        raise PermissionError("not in this sandbox")

    monkeypatch.setattr(os, "memfd_create", refuse)
    monkeypatch.setattr(shim.tempfile, "tempdir", str(tmp_path))
    kind = ctypes.CFUNCTYPE(ctypes.c_int)
    function = kind(lambda: 7)
    library = Shim({"Function": _address(function)})
    assert Path(library.path).parent == tmp_path
    assert Path(library.path).stat().st_mode & 0o777 == 0o600
    loaded = ctypes.CDLL(library.path)
    library.loaded()
    assert list(tmp_path.iterdir()) == []
    assert kind(_address(loaded.Function))() == 7


@here
def test_with_neither_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "memfd_create")
    monkeypatch.setattr(shim.tempfile, "tempdir", str(tmp_path / "not there"))
    with pytest.raises(HostError, match="TMPDIR"):
        Shim({"Function": 1})


@pytest.mark.parametrize(("system", "machine"), [("win32", "AMD64"), ("darwin", "arm64"), ("linux", "riscv64")])
def test_other_platforms_are_refused_with_what_works_there(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str
) -> None:
    monkeypatch.setattr(shim.sys, "platform", system)
    monkeypatch.setattr(shim.platform, "machine", lambda: machine)
    with pytest.raises(HostError, match="What works here"):
        check_platform()


@pytest.mark.parametrize("machine", MACHINES)
def test_binutils_reads_the_file_without_complaint(machine: str, tmp_path: Path) -> None:
    readelf = shutil.which("readelf")
    need("gcc", readelf)  # its binutils
    assert readelf is not None
    file = tmp_path / "shim.so"
    file.write_bytes(shared_object(machine, {"CreateEpFactories": 2**47 - 1, "ReleaseEpFactory": 4096}))
    result = subprocess.run(
        [readelf, "-W", "-h", "-l", "-d", "-D", "-s", file], capture_output=True, text=True, check=True
    )
    assert "Warning" not in result.stderr + result.stdout
    assert "Error" not in result.stderr + result.stdout
    assert "CreateEpFactories" in result.stdout
    assert {"x86_64": "X86-64", "aarch64": "AArch64"}[machine] in result.stdout


def test_the_image_is_a_few_kilobytes_and_the_same_every_time() -> None:
    functions = {"CreateEpFactories": 1, "ReleaseEpFactory": 2}
    images = [shared_object("x86_64", functions) for _ in range(2)]
    assert images[0] == images[1]
    assert len(images[0]) < 8192
