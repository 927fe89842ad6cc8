"""The names of ``ortcache.raw``."""

from __future__ import annotations

import pytest

import ortcache.raw as raw
from ortcache.raw import _declarations as declared
from ortcache.raw import constants, enums


def test_dir_lists_everything_that_is_declared() -> None:
    everything = {*declared.STRUCTS, *declared.CALLBACKS, *declared.HANDLES, *enums.__all__, *constants.__all__}
    assert len(everything) > 250
    assert everything <= set(dir(raw))


def test_every_listed_name_is_there() -> None:
    for name in dir(raw):
        assert getattr(raw, name) is not None, name


def test_a_name_is_looked_up_once() -> None:
    first = raw.OrtSession
    assert vars(raw)["OrtSession"] is first is raw.OrtSession


@pytest.mark.parametrize("name", ["OrtSesion", "ort", "__wrapped__", "_OrtApi", "STRUCTS"])
def test_an_unknown_name_is_an_attribute_error_that_says_which(name: str) -> None:
    with pytest.raises(AttributeError, match=f"module 'ortcache.raw' has no attribute '{name}'"):
        getattr(raw, name)


def test_an_unknown_name_is_an_import_error_in_an_import() -> None:
    with pytest.raises(ImportError, match="OrtSesion"):
        from ortcache.raw import OrtSesion  # noqa: F401


def test_slots_tell_name_index_version_and_signature() -> None:
    slots = raw.slots("OrtApi")
    names = [slot.name for slot in slots]
    assert names[:3] == ["CreateStatus", "GetErrorCode", "GetErrorMessage"]
    assert len(set(names)) == len(names)
    status = slots[0]
    assert (status.since, status.placeholder) == (1, False)
    assert status.signature == "OrtStatus* CreateStatus(OrtErrorCode code, const char* msg)"
    data = raw.slots("OrtAllocator")[0]
    assert (data.params, data.signature) == (None, "uint32_t version")


def test_placeholders_are_marked() -> None:
    assert [slot.since for slot in raw.slots("OrtApi") if slot.placeholder] == [31, 32]


def test_slots_of_no_struct_are_a_value_error() -> None:
    with pytest.raises(ValueError, match="no struct named 'OrtSession'"):
        raw.slots("OrtSession")
    with pytest.raises(ValueError, match="no struct named 'Nothing'"):
        raw.slots("Nothing")


def test_versions_say_what_the_bindings_know() -> None:
    assert raw.HEADERS_API_VERSION <= raw.GENERATED_API_VERSION
    assert raw.ORT_API_VERSION == raw.HEADERS_API_VERSION


def test_constants_and_config_keys_have_their_values() -> None:
    assert raw.kOrtSessionOptionsConfigLoadModelFormat == "session.load_model_format"
    assert raw.kOrtRunOptionsConfigEnableMemoryArenaShrinkage == "memory.enable_memory_arena_shrinkage"
