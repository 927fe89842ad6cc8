"""The differences of Windows, as if there: calling conventions and wide paths."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import pytest

from ortcache.raw import _declarations as declared
from ortcache.raw._support import Bindings, declarations


class _Stdcall:
    """In place of ctypes.WINFUNCTYPE, which only Windows has: it remembers what it made."""

    def __init__(self) -> None:
        self.made: list[Any] = []

    def __call__(self, result: Any, *arguments: Any) -> Any:
        kind = type("Stdcall", (ctypes.CFUNCTYPE(result, *arguments),), {
            "_flags_": ctypes.CFUNCTYPE(None)._flags_, "_restype_": result, "_argtypes_": arguments
        })  # fmt: skip
        self.made.append(kind)
        return kind

    def has(self, kind: Any) -> bool:
        return any(issubclass(kind, made) for made in self.made)


@pytest.fixture(scope="module")
def stdcall() -> _Stdcall:
    return _Stdcall()


@pytest.fixture(scope="module")
def windows(stdcall: _Stdcall) -> Bindings:
    return Bindings(**declarations(), stdcall=stdcall, path_char=ctypes.c_wchar)


def _functions() -> Iterator[tuple[str, str]]:
    for name, rows in declared.STRUCTS.items():
        yield from ((name, row[0]) for row in rows if len(row) == 4)


def test_every_function_of_a_struct_is_stdcall(windows: Bindings, stdcall: _Stdcall) -> None:
    functions = list(_functions())
    assert len(functions) > 600
    for struct, member in functions:
        assert stdcall.has(dict(windows.get(struct)._fields_)[member]), f"{struct}.{member}"
        assert stdcall.has(windows.prototype(struct, member)), f"{struct}.{member}"


@pytest.mark.parametrize("name", sorted(declared.CALLBACKS))
def test_a_callback_has_the_convention_that_its_typedef_says(name: str, windows: Bindings, stdcall: _Stdcall) -> None:
    convention = declared.CALLBACKS[name][0]
    assert convention in ("stdcall", "cdecl")
    assert stdcall.has(windows.get(name)) == (convention == "stdcall")


def test_both_conventions_occur() -> None:
    conventions = {name: entry[0] for name, entry in declared.CALLBACKS.items()}
    assert conventions["OrtLoggingFunction"] == conventions["OrtReadNamedBufferFunc"] == "stdcall"
    assert conventions["OrtThreadWorkerFn"] == conventions["RunAsyncCallbackFn"] == "cdecl"


def test_paths_are_wide_strings(windows: Bindings) -> None:
    create = windows.prototype("OrtApi", "CreateSession")
    assert create._argtypes_[1] is ctypes.c_wchar_p
    assert windows.type("const ORTCHAR_T* const*") is ctypes.POINTER(ctypes.c_wchar_p)
    assert windows.type("ORTCHAR_T*") is ctypes.POINTER(ctypes.c_wchar)
    assert windows.type("const char*") is ctypes.c_char_p


def test_every_path_parameter_is_wide_there_and_narrow_here(windows: Bindings) -> None:
    here = Bindings(**declarations(), path_char=ctypes.c_char)
    found = 0
    for name, rows in declared.STRUCTS.items():
        for row in rows:
            if len(row) == 4:
                wide, narrow = windows.prototype(name, row[0])._argtypes_, here.prototype(name, row[0])._argtypes_
                for text, there, ours in zip(row[3].split(", ") if row[3] else [], wide, narrow, strict=True):
                    if "ORTCHAR_T" in text:
                        found += 1
                        pair = (ctypes.c_wchar_p, ctypes.c_char_p)
                        if text.count("*") == 2:
                            pair = (ctypes.POINTER(pair[0]), ctypes.POINTER(pair[1]))
                        assert (there, ours) == pair, f"{name}.{row[0]}"
    assert found > 10


def test_structs_have_the_same_members_there(windows: Bindings) -> None:
    here = Bindings(**declarations())
    for name in declared.STRUCTS:
        assert [f[0] for f in windows.get(name)._fields_] == [f[0] for f in here.get(name)._fields_]


def test_callbacks_work_through_the_other_convention(windows: Bindings) -> None:
    seen = []
    write = windows.get("OrtWriteNamedBufferFunc")(lambda state, name, data, size: seen.append((name, size)) or 0)
    assert not write(None, b"key", None, 3)
    assert seen == [(b"key", 3)]
