"""Which API version is spoken, with real and with impossible libraries."""

from __future__ import annotations

import ctypes

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.runtime import load
from ortcache.core.native import MINIMUM_API_VERSION, TABLES, Native
from ortcache.errors import LibraryVersionError, UnsupportedFunctionError

from ..support.fakes import FakeBase, table_copy
from ..support.process import run_python


def test_it_speaks_the_highest_version_that_both_sides_know(rt: oc.Runtime) -> None:
    minor = int(rt.version.split(".")[1])
    assert rt.native.library_api_version == minor
    assert rt.api_version == min(minor, raw.GENERATED_API_VERSION)


@pytest.mark.parametrize("version", ["1.40.0", "1.40", "1.40.0-dev+abc", "1.400.1"])
def test_a_library_newer_than_the_bindings_is_asked_for_what_they_know(rt: oc.Runtime, version: str) -> None:
    base = FakeBase(version, table_copy(rt.native))
    native = Native(base.address)
    assert native.api_version == raw.GENERATED_API_VERSION
    assert base.asked == [raw.GENERATED_API_VERSION]
    assert native.library_api_version == int(version.split(".")[1].split("-")[0])


@pytest.mark.parametrize("version", ["1.5.0", "1.0.0", "1.19.2"])
def test_a_library_that_is_too_old_is_refused_without_asking_it(version: str) -> None:
    base = FakeBase(version)
    with pytest.raises(LibraryVersionError, match=rf"ONNX Runtime {version} \(this process\) is too old"):
        Native(base.address)
    assert base.asked == []


@pytest.mark.parametrize("version", ["2.0.0", "garbage", "", "1.", "11.2.0", None])
def test_a_version_that_is_none_is_refused(version: str | None) -> None:
    base = FakeBase(version)
    with pytest.raises(LibraryVersionError, match="says it is version"):
        Native(base.address)
    assert base.asked == []


def test_a_library_that_gives_no_table_for_its_own_version_is_refused() -> None:
    with pytest.raises(LibraryVersionError, match="gives no API of version 30"):
        Native(FakeBase("1.30.0").address)


@pytest.mark.parametrize("asked", [99, 33, MINIMUM_API_VERSION - 1, 0, -1])
def test_an_api_version_that_cannot_be_says_what_can(rt: oc.Runtime, asked: int) -> None:
    with pytest.raises(LibraryVersionError) as raised:
        load(rt.library, api_version=asked)
    message = str(raised.value)
    assert f"API version {asked} was asked for" in message and str(rt.library) in message
    assert f"{MINIMUM_API_VERSION} to {rt.api_version}" in message


@pytest.mark.parametrize("asked", ["20", 20.5, True])
def test_an_api_version_is_a_whole_number(rt: oc.Runtime, asked: object) -> None:
    with pytest.raises(TypeError, match="API version must be a whole number"):
        load(rt.library, api_version=asked)  # type: ignore[arg-type]


def test_the_lowest_version_still_runs_a_model(rt: oc.Runtime, mul_model: object) -> None:
    old = load(rt.library, api_version=MINIMUM_API_VERSION)
    assert old.api_version == MINIMUM_API_VERSION
    result = old.session(mul_model).run({"X": [[1, 1], [1, 1], [1, 1]]})  # type: ignore[arg-type]
    assert result[0].tolist() == [[1, 2], [3, 4], [5, 6]]


def test_onnx_runtime_prints_nothing_while_the_version_is_agreed() -> None:
    code = """
        import ortcache
        ortcache.load().env
        for version in (99, 10, 20):
            try:
                ortcache.load(api_version=version)
            except ortcache.LibraryVersionError:
                pass
    """
    assert run_python(code) == ""


@pytest.mark.parametrize("struct", ["OrtApi", *TABLES])
def test_each_table_that_the_library_has_is_there(rt: oc.Runtime, struct: str) -> None:
    first = raw.slots(struct)[0]
    if first.since > rt.api_version:
        with pytest.raises(UnsupportedFunctionError, match=rf"since ONNX Runtime 1\.{first.since}"):
            rt.native.table(struct)
        return
    table = rt.native.table(struct)
    assert table is rt.native.table(struct) and callable(getattr(table, first.name))


@pytest.mark.parametrize("struct", TABLES)
def test_a_table_newer_than_the_version_in_use_names_both(rt: oc.Runtime, struct: str) -> None:
    old = load(rt.library, api_version=MINIMUM_API_VERSION)
    with pytest.raises(UnsupportedFunctionError, match=r"since ONNX Runtime 1\.2\d; .*API version 20.*onnxruntime>="):
        old.native.table(struct)


def test_a_function_of_another_table_is_found_under_api_too(rt: oc.Runtime) -> None:
    assert rt.api.CompileModel is rt.native.table("OrtCompileApi").CompileModel


@pytest.mark.parametrize("others", [TABLES])
def test_no_name_stands_in_two_tables(others: dict[str, str]) -> None:
    names = [slot.name for struct in ("OrtApi", *others) for slot in raw.slots(struct) if not slot.placeholder]
    assert len(names) > 500
    assert sorted({name for name in names if names.count(name) > 1}) == []


def test_a_table_that_a_build_left_out_says_so(rt: oc.Runtime) -> None:
    no_table = ctypes.CFUNCTYPE(ctypes.c_void_p)(lambda: None)
    address = ctypes.cast(no_table, ctypes.c_void_p).value
    assert address
    base = FakeBase(rt.version, table_copy(rt.native, GetCompileApi=address))  # it lasts as long as what reads it
    native = Native(base.address)
    for _ in range(2):
        with pytest.raises(UnsupportedFunctionError, match="was built without OrtCompileApi"):
            native.table("OrtCompileApi")
