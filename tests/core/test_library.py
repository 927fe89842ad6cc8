"""Which library is chosen, and what is said where none is."""

from __future__ import annotations

import importlib.util
import sys
import types
import venv
from pathlib import Path

import pytest

from ortcache.core.library import ENVIRONMENT, find_library
from ortcache.errors import LibraryNotFoundError

from ..support.installed import library_file, package_folder
from ..support.process import run_python

_CHOICE = "from ortcache.core.library import find_library; print(find_library().path)"
_NAMES = {
    "linux": "libonnxruntime.so.1.32.0",
    "darwin": "libonnxruntime.1.32.0.dylib",
    "win32": "onnxruntime.dll",
}


@pytest.fixture(autouse=True)
def _no_choice_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT, raising=False)


def _package(folder: Path, *names: str) -> Path:
    """An onnxruntime package, as a wheel unpacks, with these files in its capi folder; gives that folder."""
    capi = folder / "onnxruntime" / "capi"
    capi.mkdir(parents=True)
    (folder / "onnxruntime" / "__init__.py").write_text("raise ImportError('this must not be imported')")
    for name in names:
        (capi / name).touch()
    return capi


def _only_package(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    monkeypatch.delitem(sys.modules, "onnxruntime", raising=False)
    monkeypatch.setattr(sys, "path", [str(folder)])
    importlib.invalidate_caches()


@pytest.mark.parametrize("platform", _NAMES)
def test_the_wheels_library_is_found_by_each_systems_name(
    platform: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [name for system, name in _NAMES.items() if system != platform]
    capi = _package(tmp_path, *others, _NAMES[platform], "libonnxruntime_providers_shared.so")
    _only_package(monkeypatch, tmp_path)
    monkeypatch.setattr(sys, "platform", platform)
    choice = find_library()
    assert choice.path == capi / _NAMES[platform]
    assert "installed onnxruntime package" in str(choice)


def test_a_file_is_taken_as_named_and_nothing_else_is_looked_at(tmp_path: Path) -> None:
    file = tmp_path / "ünï cødé" / "my runtime.so"
    file.parent.mkdir()
    file.touch()
    assert find_library(file).path == file
    assert find_library(str(file)).path == file


def test_a_relative_path_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.so").touch()
    monkeypatch.chdir(tmp_path)
    assert find_library("x.so").path == tmp_path / "x.so"


def test_the_home_folder_is_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x.so").touch()
    monkeypatch.setenv("HOME", str(tmp_path))
    assert find_library("~/x.so").path == tmp_path / "x.so"


@pytest.mark.parametrize("inside", [".", "lib", "capi"])
def test_a_folder_gives_the_newest_library_in_it(inside: str, tmp_path: Path) -> None:
    folder = tmp_path / inside
    folder.mkdir(exist_ok=True)
    for name in ("libonnxruntime.so", "libonnxruntime.so.1.9.0", "libonnxruntime.so.1.32.0"):
        (folder / name).touch()
    for name in ("libonnxruntime.so.1.40.0.bak", "libonnxruntime.so.1.50.0~", "libonnxruntime_providers_shared.so"):
        (folder / name).touch()
    assert find_library(tmp_path).path == folder / "libonnxruntime.so.1.32.0"


def test_the_environment_variable_comes_before_the_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "other.so"
    file.touch()
    monkeypatch.setenv(ENVIRONMENT, str(file))
    choice = find_library()
    assert choice.path == file
    assert ENVIRONMENT in choice.source


def test_an_empty_environment_variable_names_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    package_folder()
    monkeypatch.setenv(ENVIRONMENT, "")
    assert find_library().source == "the installed onnxruntime package"


def test_there_is_no_falling_back_from_the_environment_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ENVIRONMENT, str(tmp_path / "gone.so"))
    with pytest.raises(LibraryNotFoundError, match=rf"{ENVIRONMENT} in the environment: there is no file .*gone\.so"):
        find_library()


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("gone/libonnxruntime.so", "path given: there is no file"),
        ("", "it is empty"),
        ("~nobody-of-that-name/x.so", "cannot be looked at"),
        ("x" * 5000, "cannot be looked at"),
        ("nul\0.so", "there is no file"),
    ],
)
def test_a_path_that_is_no_library_says_so(path: str, said: str) -> None:
    with pytest.raises(LibraryNotFoundError, match=said):
        find_library(path)


def test_an_empty_folder_says_what_it_should_hold(tmp_path: Path) -> None:
    with pytest.raises(LibraryNotFoundError, match=r"holds no libonnxruntime\.so .*nor do its lib and capi"):
        find_library(tmp_path)


def test_what_is_no_path_is_a_type_error() -> None:
    with pytest.raises(TypeError):
        find_library(5)  # type: ignore[arg-type]


def test_where_nothing_is_found_every_place_is_listed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only_package(monkeypatch, tmp_path)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(LibraryNotFoundError) as raised:
        find_library()
    message = str(raised.value)
    assert "pip install onnxruntime" in message and "ortcache.load(path=...)" in message
    assert f"{ENVIRONMENT}: not set" in message
    assert "onnxruntime package: not installed for this Python" in message
    assert "system's library folders: no onnxruntime" in message


def test_an_old_wheel_without_a_library_says_which_have_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    capi = _package(tmp_path, "onnxruntime_pybind11_state.so", "libonnxruntime_providers_shared.so")
    _only_package(monkeypatch, tmp_path)
    monkeypatch.setattr("ctypes.util.find_library", lambda name: None)
    with pytest.raises(LibraryNotFoundError, match=rf"{capi}: this onnxruntime ships no .*1\.20 and later do"):
        find_library()


def test_a_broken_onnxruntime_module_does_not_stop_the_search(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", types.ModuleType("onnxruntime"))  # its __spec__ is None
    system = tmp_path / "libonnxruntime.so.1.30.0"
    system.touch()
    monkeypatch.setattr("ctypes.util.find_library", lambda name: str(system))
    choice = find_library()
    assert choice.path == system
    assert any("onnxruntime package: " in line for line in choice.tried)


def test_the_systems_library_comes_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr("ctypes.util.find_library", lambda name: asked.append(name) or str(tmp_path / "system.so"))
    _only_package(monkeypatch, tmp_path)
    assert find_library().source == "the system's library folders"
    assert asked == ["onnxruntime"]


def test_a_bare_name_from_the_system_becomes_the_file_that_the_loader_takes(tmp_path: Path) -> None:
    library = library_file()
    (tmp_path / "libonnxruntime.so.1").symlink_to(library)
    code = """
        import ctypes.util, sys
        sys.path = [p for p in sys.path if "site-packages" not in p]
        ctypes.util.find_library = lambda name: "libonnxruntime.so.1"
        from ortcache.core.library import find_library
        print(find_library())
    """
    printed = run_python(code, LD_LIBRARY_PATH=str(tmp_path), **{ENVIRONMENT: ""})
    assert printed.strip() == f"{library.resolve()} (the system's library folders)"


def test_the_library_of_a_virtual_environment_is_found_by_its_python(tmp_path: Path) -> None:
    venv.create(tmp_path / "env ü", with_pip=False, symlinks=True)
    python = tmp_path / "env ü" / "bin" / "python"
    site = run_python("import sysconfig; print(sysconfig.get_path('purelib'))", python=python).strip()
    capi = _package(Path(site), "libonnxruntime.so.1.31.1")
    assert run_python(_CHOICE, python=python, **{ENVIRONMENT: ""}).strip() == str(capi / "libonnxruntime.so.1.31.1")


def test_the_library_in_the_users_site_folder_is_found(tmp_path: Path) -> None:
    python = getattr(sys, "_base_executable", sys.executable)  # a virtual environment has no user's site folder
    base = {"PYTHONUSERBASE": str(tmp_path), ENVIRONMENT: "", "PYTHONNOUSERSITE": ""}
    site = run_python("import site; print(site.getusersitepackages())", python=python, **base).strip()
    capi = _package(Path(site), "libonnxruntime.so.1.31.1")
    assert run_python(_CHOICE, python=python, **base).strip() == str(capi / "libonnxruntime.so.1.31.1")
