"""The generated modules: what they say is what the headers say, loaded and compared."""

from __future__ import annotations

import ctypes
import importlib
from enum import IntEnum, IntFlag
from pathlib import Path
from typing import Any

import pytest

from gen import snapshot
from gen.build import lay, newest_snapshot
from gen.emit import emit
from gen.errors import GenError
from gen.model import Header
from gen.overlay import apply, read_overlay_text
from gen.paths import ABI, OVERLAYS
from tests.support.generated import load
from tests.support.small_headers import MAIN, read

ODD = (
    MAIN
    + r"""
typedef enum OrtBits { OrtBits_NONE = 0, OrtBits_A = 1 << 0, OrtBits_TOP = 1 << 31 } OrtBits;
typedef enum OrtNegative { OrtNegative_X = -5, OrtNegative_Y, OrtNegative_Z = -5 } OrtNegative;
typedef enum OrtWide { OrtWide_X = 0xF0000000 } OrtWide;
#define ORT_TEXT "quote \" backslash \\ tab \t line \n e\xcc\x81 end"
#define ORT_HALF 0.5f
#define ORT_ENDLESS 1e999
#define ORT_LESS -7
typedef union OrtEither { int32_t number; double real; } OrtEither;
struct OrtOdd {
  struct { uint8_t from; uint8_t to; };
  OrtEither either[2];
  OrtPoint point;
  uint32_t count;
  unsigned int low : 3;
  unsigned int high : 5;
  const ORTCHAR_T* path;
  OrtLogFn log;
};
#pragma pack(push, 1)
struct OrtTight { char a; uint64_t b; };
#pragma pack(pop)
struct OrtLater { OrtBits bits; OrtNegative negative; OrtWide wide; struct OrtOdd* odd; };
"""
)


@pytest.fixture
def odd(tmp_path: Path) -> Any:
    return load(emit(read(ODD), []), tmp_path)


def test_structs_have_every_member_in_order_with_the_layout_of_c(odd: Any) -> None:
    assert [name for name, *_ in odd.OrtOdd._fields_] == [
        "anonymous0", "either", "point", "count", "low", "high", "path", "log",
    ]  # fmt: skip
    assert ctypes.sizeof(odd.OrtOdd) == 2 + 6 + 16 + 8 + 4 + 4 + 8 + 8
    assert odd.OrtOdd.to.offset == 1  # the members of an anonymous struct are reached directly
    assert (ctypes.sizeof(odd.OrtTight), odd.OrtTight.b.offset) == (9, 1)
    assert ctypes.sizeof(odd.OrtEither) == 8 and issubclass(odd.OrtEither, ctypes.Union)
    value = odd.OrtOdd(low=9, high=31)
    assert (value.low, value.high) == (1, 31)


def test_slots_carry_index_since_version_and_signature(odd: Any) -> None:
    assert [(s.name, s.since, s.signature) for s in odd.slots("OrtApi")] == [
        ("CreateEnv", 1, "OrtStatus* CreateEnv(OrtLogFn log, OrtEnv** out)"),
        ("ReleaseEnv", 2, "void ReleaseEnv(OrtEnv* env)"),
    ]
    with pytest.raises(ValueError, match="OrtNone"):
        odd.slots("OrtNone")


def test_enums_are_int_enums_and_flags_with_each_enumerator_under_its_own_name(odd: Any) -> None:
    assert issubclass(odd.OrtColour, IntEnum) and odd.ORT_GREEN is odd.OrtColour.ORT_GREEN and odd.ORT_GREEN == 4
    assert issubclass(odd.OrtBits, IntFlag)
    assert odd.OrtBits_TOP == 1 << 31 and (odd.OrtBits_TOP | odd.OrtBits_A) == 0x80000001
    assert (odd.OrtNegative_X, odd.OrtNegative_Y) == (-5, -4)
    assert odd.OrtNegative_Z is odd.OrtNegative_X


def test_an_enum_field_holds_every_value_of_its_enum(odd: Any) -> None:
    value = odd.OrtLater(bits=odd.OrtBits_TOP, negative=odd.OrtNegative_X, wide=odd.OrtWide_X)
    assert odd.OrtBits(value.bits & 0xFFFFFFFF) is odd.OrtBits_TOP
    assert (value.negative, value.wide) == (-5, 0xF0000000)


def test_constants_keep_value_and_type(odd: Any) -> None:
    assert read(ODD).constants["ORT_TEXT"] == odd.ORT_TEXT
    assert (odd.ORT_HALF, odd.ORT_ENDLESS, odd.ORT_LESS, odd.kOrtKey) == (0.5, float("inf"), -7, "session.key")
    assert odd.ORT_API_VERSION == odd.HEADERS_API_VERSION == 30


def test_callback_types_take_a_python_function(odd: Any) -> None:
    heard = []
    function = odd.OrtLogFn(lambda state, text: heard.append((state, text)))
    function(None, b"hello")
    assert heard == [(None, b"hello")]


def test_windows_conventions_and_path_characters_are_in_the_declarations(odd: Any) -> None:
    made = []

    def stdcall(*types: Any) -> Any:
        made.append(types)
        return ctypes.CFUNCTYPE(*types)

    declared = importlib.import_module(f"{odd.__name__}._declarations")
    windows = importlib.import_module(f"{odd.__name__}._support").Bindings(
        structs=declared.STRUCTS,
        unions=declared.UNIONS,
        packed=declared.PACKED,
        anonymous=declared.ANONYMOUS,
        callbacks=declared.CALLBACKS,
        handles=declared.HANDLES,
        enums=declared.ENUMS,
        stdcall=stdcall,
        path_char=ctypes.c_wchar,
    )
    assert {n: t for n, t, *_ in windows.get("OrtOdd")._fields_}["path"] is ctypes.c_wchar_p
    windows.get("OrtApi")
    assert len(made) == 3  # two slots and the callback type


def test_proposed_slots_and_placeholders_are_told_apart(tmp_path: Path) -> None:
    overlay = read_overlay_text(
        "struct OrtApi {\n"
        "  /** \\index 2 \\since 1.31 \\placeholder */\n  void* placeholder_2;\n"
        "  /** \\proposed */\n  void(ORT_API_CALL* Idea)(int x);\n};\n",
        "ours.h",
    )
    header, _ = apply(read(), overlay)
    raw = load(emit(header, ["ours.h"]), tmp_path)
    assert [(s.name, s.since, s.placeholder) for s in raw.slots("OrtApi")][2:] == [
        ("placeholder_2", 31, True),
        ("Idea", "proposed", False),
    ]
    assert raw.GENERATED_API_VERSION == 31
    assert ctypes.sizeof(raw.OrtApi) == 4 * ctypes.sizeof(ctypes.c_void_p)


def test_every_file_says_what_it_was_made_from_and_not_to_edit_it() -> None:
    header = read()
    digest = header.sources["onnxruntime_c_api.h"]
    for text in emit(header, ["a.h", "b.h"]).values():
        first = text.splitlines()[:3]
        assert first[0].startswith("# GENERATED by `python -m gen build`: DO NOT EDIT.")
        assert "headers/abi/ort-1.30.json" in first[1] and "a.h, b.h" in first[1]
        assert digest in first[2]


def test_one_slot_stands_on_one_line_with_its_index_and_since_version() -> None:
    lines = emit(read(), [])["_declarations.py"].splitlines()
    assert '        ("ReleaseEnv", 2, "void", "OrtEnv* env"),  # 1' in lines


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("typedef enum OrtE { None } OrtE;", "None"),
        ("typedef enum OrtE { mro } OrtE;", "mro"),
        ("typedef enum OrtE { real } OrtE;", "real"),
        ("typedef enum OrtE { _hidden } OrtE;", "_hidden"),
        ("typedef enum OrtE { value } OrtE;", "value"),
        ("#define class 3\n", "class"),
        ("struct slots { int x; };", "slots"),
        ("typedef struct enums enums;", "enums"),
        ('static const char* const GENERATED_API_VERSION = "x";', "GENERATED_API_VERSION"),
    ],
)
def test_a_name_that_python_needs_is_refused_by_name(text: str, name: str) -> None:
    with pytest.raises(GenError, match=rf"\b{name}\b"):
        emit(read(MAIN + text), [])


def newest() -> Header:
    return lay(newest_snapshot(ABI), OVERLAYS)[0]


def test_every_name_of_the_snapshot_and_the_overlays_is_in_the_committed_bindings() -> None:
    from ortcache import raw

    header = newest()
    enumerators = {name: value for enum in header.enums.values() for name, value in enum.values.items()}
    for name in [*header.records, *header.handles, *header.callbacks, *header.enums]:
        assert isinstance(getattr(raw, name), type), name
    for name, value in {**header.constants, **header.keys}.items():
        assert getattr(raw, name) == value and type(getattr(raw, name)) is type(value)
    for name, value in enumerators.items():
        assert getattr(raw, name) in (value, value & 0xFFFFFFFF)
    assert set(dir(raw)) >= {*header.records, *header.handles, *header.callbacks, *header.enums, *enumerators}


def test_every_slot_of_the_committed_bindings_is_that_of_the_snapshot() -> None:
    from ortcache import raw

    header = newest()
    for record in header.records.values():
        assert [m.name for m in record.members] == [name for name, *_ in getattr(raw, record.name)._fields_]
        for member, slot in zip(record.members, raw.slots(record.name), strict=True):
            since = {"proposed": "proposed"}.get(member.status, member.since)
            assert (slot.name, slot.since, slot.placeholder) == (member.name, since, member.status == "placeholder")


def test_the_committed_bindings_have_the_sizes_that_the_releases_have() -> None:
    from ortcache import raw

    counts = {name: len(raw.slots(name)) for name in ("OrtApi", "OrtEpApi", "OrtCompileApi", "OrtEp", "OrtEpFactory")}
    proposed = {name: sum(s.since == "proposed" for s in raw.slots(name)) for name in counts}
    assert proposed == {"OrtApi": 2, "OrtEpApi": 1, "OrtCompileApi": 0, "OrtEp": 1, "OrtEpFactory": 0}
    released = {name: counts[name] - proposed[name] for name in counts}
    assert released == {"OrtApi": 429, "OrtEpApi": 78, "OrtCompileApi": 20, "OrtEp": 27, "OrtEpFactory": 22}
    assert raw.GENERATED_API_VERSION == 32


def test_the_same_header_gives_the_same_text() -> None:
    text = snapshot.dumps(newest())
    assert emit(newest(), []) == emit(newest(), [])
    assert emit(snapshot.loads(snapshot.dumps(read(ODD))), []) == emit(read(ODD), [])
    assert text == snapshot.dumps(newest())
