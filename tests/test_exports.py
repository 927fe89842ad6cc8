"""The public names: one that comes, goes or moves is seen here."""

from __future__ import annotations

import ast
import importlib
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import ortcache

from .support.process import run_python

PUBLIC = [
    "CacheCallbacks",
    "CacheSupport",
    "ClosedError",
    "DirectoryStore",
    "EpCacheError",
    "EpCacheStats",
    "EpDevice",
    "HostError",
    "InputError",
    "LibraryError",
    "LibraryNotFoundError",
    "LibraryVersionError",
    "MemoryStore",
    "NotOnnxRuntimeError",
    "OrtError",
    "OrtcacheError",
    "ProposedFunctionError",
    "RunOptions",
    "Runtime",
    "Scope",
    "Session",
    "SessionOptions",
    "SqliteStore",
    "StoreError",
    "StoreTimeoutError",
    "UnsupportedFunctionError",
    "Value",
    "__version__",
    "bridge",
    "ep",
    "interop",
    "load",
    "open_store",
    "raw",
    "scope",
    "stores",
]


def test_the_package_offers_exactly_these_names() -> None:
    assert sorted(ortcache.__all__) == PUBLIC


@pytest.mark.parametrize("name", PUBLIC)
def test_each_name_is_there_and_is_listed(name: str) -> None:
    assert getattr(ortcache, name) is not None
    assert name in dir(ortcache)


@pytest.mark.parametrize("package", [ortcache, ortcache.stores], ids=lambda package: package.__name__)
def test_type_checkers_are_told_of_the_same_names(package: ModuleType) -> None:
    assert package.__file__ is not None
    tree = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text("utf-8"))
    told = {alias.asname for node in tree.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    told |= {ast.unparse(node.target) for node in tree.body if isinstance(node, ast.AnnAssign)}
    assert told == set(package.__all__)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'lod'"):
        ortcache.lod  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'OrtApiX'"):
        ortcache.raw.OrtApiX  # noqa: B018


def test_star_import_gives_the_public_names() -> None:
    namespace: dict[str, object] = {}
    exec("from ortcache import *", namespace)
    assert {name for name in namespace if name != "__builtins__"} == set(PUBLIC)


def test_every_module_offers_only_what_it_has() -> None:
    modules = [m.name for m in pkgutil.walk_packages(ortcache.__path__, "ortcache.") if not m.name.endswith("__main__")]
    assert len(modules) > 20
    for module in map(importlib.import_module, modules):
        for name in getattr(module, "__all__", ()):
            assert hasattr(module, name), f"{module.__name__}.{name}"


def test_importing_the_package_loads_neither_numpy_nor_the_library_nor_ctypes() -> None:
    code = "import sys, ortcache; print(sorted({'numpy', 'ctypes', 'onnxruntime', 'ortcache.raw'} & set(sys.modules)))"
    assert run_python(code).strip() == "[]"
