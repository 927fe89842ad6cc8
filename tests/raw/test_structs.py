"""Structs, handles and enums: what ctypes sees is what C has."""

from __future__ import annotations

import ctypes
import enum
from typing import Any

import pytest

from ortcache import raw
from ortcache.raw import _declarations as declared

_TABLES = [name for name in declared.STRUCTS if name.endswith(("Api", "ApiBase"))]


def test_the_declarations_hold_the_tables() -> None:
    assert {"OrtApi", "OrtApiBase", "OrtEpApi", "OrtCompileApi", "OrtModelEditorApi", "OrtInteropApi"} <= set(_TABLES)


@pytest.mark.parametrize("name", sorted(declared.STRUCTS))
def test_a_struct_is_a_real_structure_with_all_its_members_in_order(name: str) -> None:
    struct = getattr(raw, name)
    assert issubclass(struct, ctypes.Union if name in declared.UNIONS else ctypes.Structure)
    assert (struct.__name__, struct.__module__) == (name, "ortcache.raw")
    assert [field[0] for field in struct._fields_] == [slot.name for slot in raw.slots(name)]
    struct()  # it can be made


@pytest.mark.parametrize("name", _TABLES)
def test_every_member_of_a_table_is_a_function_at_its_index(name: str) -> None:
    table, size = getattr(raw, name), ctypes.sizeof(ctypes.c_void_p)
    slots = raw.slots(name)
    assert ctypes.sizeof(table) == len(slots) * size
    for index, slot in enumerate(slots):
        member = getattr(table, slot.name)
        assert (member.offset, member.size) == (index * size, size), slot.name
        assert (slot.params is None) == slot.placeholder, slot.name


def test_the_table_has_the_slots_of_the_newest_known_release_and_the_proposed_ones_last() -> None:
    slots = raw.slots("OrtApi")
    released = [slot for slot in slots if slot.since != "proposed"]
    assert slots[: len(released)] == released
    assert max(slot.since for slot in released) == raw.GENERATED_API_VERSION
    assert [slot.since for slot in released] == sorted(slot.since for slot in released)
    assert {slot.name for slot in slots[len(released) :]} == {
        "SessionOptionsSetEpCacheDataFuncs",
        "SessionGetEpCacheDataCallbackSupport",
    }


@pytest.mark.parametrize(
    ("name", "size", "offsets"),
    [
        ("OrtResourceCount", 56, {}),
        ("OrtAllocator", 64, {"version": 0, "Alloc": 8, "Free": 16, "Shrink": 56}),
        ("OrtApiBase", 16, {"GetApi": 0, "GetVersionString": 8}),
        ("OrtCUDAProviderOptions", 64, {"device_id": 0, "gpu_mem_limit": 8, "user_compute_stream": 32}),
        ("OrtMIGraphXProviderOptions", 88, {"migraphx_exhaustive_tune": 64, "migraphx_mem_limit": 72}),
    ],
)
def test_sizes_and_offsets_are_those_of_c(name: str, size: int, offsets: dict[str, int]) -> None:
    # What a C compiler says on a 64-bit system.
    struct = getattr(raw, name)
    assert ctypes.sizeof(struct) == size
    assert {member: getattr(struct, member).offset for member in offsets} == offsets


def test_a_struct_by_value_inside_another_has_its_full_size() -> None:
    value = raw.OrtResourceCount.value
    assert value.size == ctypes.sizeof(raw.OrtResourceCount_value)
    assert value.offset + value.size == ctypes.sizeof(raw.OrtResourceCount)


@pytest.mark.parametrize("name", sorted(declared.HANDLES))
def test_a_handle_is_a_type_of_its_own_that_only_pointers_are_made_of(name: str) -> None:
    handle = getattr(raw, name)
    assert issubclass(handle, ctypes.Structure) and handle.__name__ == name
    assert not ctypes.POINTER(handle)()


def test_pointers_to_different_handles_are_not_mixed_up() -> None:
    call = dict(raw.OrtApi._fields_)["GetErrorMessage"](lambda status: None)
    assert call(ctypes.POINTER(raw.OrtStatus)()) is None
    with pytest.raises(ctypes.ArgumentError):
        call(ctypes.POINTER(raw.OrtSession)())


def _enums() -> list[Any]:
    from ortcache.raw import enums

    return [item for name in enums.__all__ if isinstance(item := getattr(enums, name), type)]


def test_enums_are_int_enums() -> None:
    kinds = _enums()
    assert len(kinds) >= 30
    assert all(issubclass(kind, (enum.IntEnum, enum.IntFlag)) for kind in kinds)
    assert raw.OrtErrorCode.ORT_FAIL == 1 and isinstance(raw.OrtErrorCode.ORT_FAIL, int)
    assert raw.OrtErrorCode(0).name == "ORT_OK"


def test_enumerators_have_their_c_names_too() -> None:
    for kind in _enums():
        for member in kind:
            assert getattr(raw, member.name) is member


def test_an_enum_goes_into_a_call_as_an_int() -> None:
    seen = []
    log = raw.OrtLoggingFunction(lambda _p, severity, *rest: seen.append(severity))
    log(None, raw.OrtLoggingLevel.ORT_LOGGING_LEVEL_ERROR, b"", b"", b"", b"")
    assert seen == [3]


def test_the_types_of_members_are_those_of_the_declaration() -> None:
    fields = dict(raw.OrtApi._fields_)
    run = fields["Run"]
    names = ctypes.POINTER(ctypes.c_char_p)
    values = ctypes.POINTER(ctypes.POINTER(raw.OrtValue))
    size = ctypes.c_size_t
    session, options = ctypes.POINTER(raw.OrtSession), ctypes.POINTER(raw.OrtRunOptions)
    assert run._restype_ is ctypes.POINTER(raw.OrtStatus)
    assert run._argtypes_ == (session, options, names, values, size, names, size, values)
    assert fields["AllocatorFree"]._argtypes_[1] is ctypes.c_void_p
    assert fields["GetErrorCode"]._restype_ is ctypes.c_int
    assert fields["ReleaseStatus"]._restype_ is None
    assert dict(raw.OrtApiBase._fields_)["GetVersionString"]._restype_ is ctypes.c_char_p
