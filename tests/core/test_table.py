"""The function tables: what is there, what is not and why, and what a call is checked for."""

from __future__ import annotations

import ctypes

import pytest

import ortcache as oc
from ortcache import raw
from ortcache.api.runtime import load
from ortcache.core.native import MINIMUM_API_VERSION, Native
from ortcache.core.table import RawTable, Table
from ortcache.errors import ProposedFunctionError, UnsupportedFunctionError
from ortcache.raw._support import PROPOSED

from ..support.fakes import FakeBase, table_copy


def test_every_function_of_the_version_in_use_is_there(rt: oc.Runtime) -> None:
    slots = [s for s in raw.slots("OrtApi") if isinstance(s.since, int) and s.since <= rt.api_version]
    functions = [slot for slot in slots if not slot.placeholder]
    assert len(functions) > 300
    for slot in functions:
        assert rt.api.raw.holds(slot.name)
        assert slot.signature in getattr(rt.api, slot.name).__doc__


def test_an_unknown_name_gets_a_hint(rt: oc.Runtime) -> None:
    for table in (rt.api, rt.api.raw):
        with pytest.raises(
            AttributeError, match=r"OrtApi has no function 'CreateSesion'; did you mean CreateSession\?"
        ):
            table.CreateSesion  # noqa: B018
        with pytest.raises(AttributeError, match=r"has no function 'zzzzzz'$"):
            table.zzzzzz  # noqa: B018
        assert not hasattr(table, "zzzzzz") and not hasattr(table, "__wrapped__")


def test_a_function_newer_than_the_library_names_both_versions(rt: oc.Runtime) -> None:
    old = load(rt.library, api_version=MINIMUM_API_VERSION)
    message = (
        rf"OrtApi\.GetEpDevices is there since ONNX Runtime 1\.22; the loaded library is ONNX Runtime {rt.version} "
        r"\(API version 20\)\. Install onnxruntime>=1\.22\."
    )
    for table in (old.api, old.api.raw):
        with pytest.raises(UnsupportedFunctionError, match=message):
            table.GetEpDevices  # noqa: B018
    assert not old.api.raw.holds("GetEpDevices") and not hasattr(old.api, "GetEpDevices")


def test_a_proposed_function_has_its_own_error(rt: oc.Runtime) -> None:
    proposed = [slot.name for slot in raw.slots("OrtApi") if slot.since == PROPOSED]
    assert "SessionOptionsSetEpCacheDataFuncs" in proposed
    for name in proposed:
        with pytest.raises(ProposedFunctionError, match=rf"OrtApi\.{name} is proposed upstream and in no release"):
            getattr(rt.api, name)


def test_a_placeholder_cannot_be_called(rt: oc.Runtime) -> None:
    held = [slot.name for slot in raw.slots("OrtApi") if slot.placeholder]
    assert held
    for name in held:
        with pytest.raises(UnsupportedFunctionError, match="only keeps the layout"):
            getattr(rt.api, name)


def test_a_slot_that_is_null_says_so(rt: oc.Runtime) -> None:
    base = FakeBase(rt.version, table_copy(rt.native, CreateEnv=0))  # it lasts as long as what reads it
    native = Native(base.address)
    with pytest.raises(UnsupportedFunctionError, match=r"OrtApi\.CreateEnv is NULL in .*: that build left it out"):
        native.api.CreateEnv  # noqa: B018
    assert not native.api.raw.holds("CreateEnv") and native.api.raw.holds("CreateSession")


def test_a_slot_beyond_the_version_is_not_even_read(rt: oc.Runtime) -> None:
    nowhere = RawTable("OrtApi", 0, 5, "a library")  # reading at address 0 would end the process
    with pytest.raises(UnsupportedFunctionError, match=r"since ONNX Runtime 1\.22; the loaded library is a library"):
        nowhere.GetEpDevices  # noqa: B018
    assert not nowhere.holds("GetEpDevices")


@pytest.mark.parametrize("args", [(), (1, 2, 3, 4, 5, 6, 7)])
def test_a_wrong_number_of_arguments_shows_the_c_signature(rt: oc.Runtime, args: tuple[int, ...]) -> None:
    signature = r"OrtStatus\* AddSessionConfigEntry\(OrtSessionOptions\* options, const char\* config_key"
    with pytest.raises(TypeError, match=rf"{signature}.*: {len(args)} arguments were given"):
        rt.api.AddSessionConfigEntry(*args)
    with pytest.raises(TypeError, match=r"void ReleaseStatus\(OrtStatus\* input\): 2 arguments"):
        rt.api.ReleaseStatus(None, None)


def test_an_argument_of_a_wrong_type_shows_the_c_signature(rt: oc.Runtime) -> None:
    options = rt.session_options()
    with pytest.raises(TypeError, match=r"AddSessionConfigEntry\(.*argument 2: TypeError"):
        rt.api.AddSessionConfigEntry(options, "a str where C wants bytes", b"1")
    with pytest.raises(TypeError, match="argument 1: "):
        rt.api.AddSessionConfigEntry(rt.run_options(), b"k", b"v")


def test_keywords_are_refused(rt: oc.Runtime) -> None:
    with pytest.raises(TypeError):
        rt.api.ReleaseStatus(input=None)


def test_a_status_result_is_none_on_success_and_an_error_otherwise(rt: oc.Runtime) -> None:
    options = rt.session_options()
    assert rt.api.SetIntraOpNumThreads(options, 1) is None
    with pytest.raises(oc.OrtError, match="AddSessionConfigEntry: Config key is empty"):
        rt.api.AddSessionConfigEntry(options, b"", b"v")


def test_an_unchecked_function_gives_the_status_itself(rt: oc.Runtime) -> None:
    status = rt.api.raw.SetSessionExecutionMode(rt.session_options(), 99)
    assert rt.api.GetErrorCode(status) is raw.OrtErrorCode.ORT_INVALID_ARGUMENT
    assert b"execution_mode" in rt.api.GetErrorMessage(status)
    rt.api.ReleaseStatus(status)


def test_making_a_status_is_no_failure(rt: oc.Runtime) -> None:
    status = rt.api.CreateStatus(raw.OrtErrorCode.ORT_FAIL, b"mine")
    assert rt.api.GetErrorMessage(status) == b"mine"
    rt.api.ReleaseStatus(status)


def test_an_enum_result_is_a_member_or_a_number_where_the_library_knows_more(rt: oc.Runtime) -> None:
    known, novel = (rt.api.CreateStatus(code, b"") for code in (2, 777))
    assert rt.api.GetErrorCode(known) is raw.OrtErrorCode.ORT_INVALID_ARGUMENT
    assert rt.api.GetErrorCode(novel) == 777
    for status in (known, novel):
        rt.api.ReleaseStatus(status)


def test_dir_lists_what_can_be_called(rt: oc.Runtime) -> None:
    names = dir(rt.api)
    assert {"raw", "CreateSession", "Run"} <= set(names)
    assert not [name for name in names if name.startswith("placeholder_")]
    assert "SessionOptionsSetEpCacheDataFuncs" not in names
    assert "GetEpDevices" not in dir(load(rt.library, api_version=MINIMUM_API_VERSION).api)


def test_a_function_is_resolved_once(rt: oc.Runtime) -> None:
    assert rt.api.CreateStatus is rt.api.CreateStatus
    assert rt.api.raw.CreateStatus is rt.api.raw.CreateStatus
    assert rt.api.CreateStatus.__name__ == "CreateStatus"


def test_a_table_says_what_it_is(rt: oc.Runtime) -> None:
    text = f"<OrtApi of ONNX Runtime {rt.version}, API version {rt.api_version}>"
    assert repr(rt.api) == repr(rt.api.raw) == text


def test_a_data_member_is_no_function() -> None:
    memory = ctypes.create_string_buffer(256)
    table = RawTable("OrtAllocator", ctypes.addressof(memory), 30, "a library")
    memory[0] = 1
    with pytest.raises((TypeError, AttributeError), match="is no function"):
        Table(table, None).version  # type: ignore[arg-type]  # noqa: B018
