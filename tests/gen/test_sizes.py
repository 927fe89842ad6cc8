"""Sizes by arithmetic against what ctypes lays out on this machine."""

from __future__ import annotations

import ctypes
import sys
from pathlib import Path

from gen import snapshot
from gen.emit import emit
from gen.paths import ABI
from gen.sizes import MODELS, layout
from tests.support.generated import load
from tests.support.small_headers import MAIN, read

HERE = MODELS[0 if sys.platform != "win32" else 1 if ctypes.sizeof(ctypes.c_void_p) == 8 else 2]

ODD = r"""
struct OrtBits { unsigned int a : 3; unsigned int b : 29; unsigned int c : 1; uint64_t after; };
struct OrtBitsOnly { uint8_t a : 4; uint8_t b : 4; uint8_t c : 4; };
#pragma pack(push, 2)
struct OrtPacked { char a; double b; int32_t c[3]; OrtPoint p; };
#pragma pack(pop)
union OrtEither { char text[13]; double number; long wide; wchar_t letter; };
struct OrtMix { bool on; union OrtEither either[3]; struct { char a; short b; } inner; ORTCHAR_T path[5]; OrtLogFn f; };
struct OrtTail { uint64_t a; char b; };
struct OrtHolds { struct OrtTail tails[2]; char last; OrtColour colour; long double big; };
"""


def test_sizes_are_those_of_ctypes(tmp_path: Path) -> None:
    header = read(MAIN + ODD)
    raw = load(emit(header, []), tmp_path)
    for record in header.records.values():
        built = getattr(raw, record.name)
        assert layout(header, record, HERE) == (ctypes.sizeof(built), ctypes.alignment(built)), record.name


def test_sizes_of_every_real_struct_are_those_of_ctypes(tmp_path: Path) -> None:
    header = snapshot.load(ABI / "ort-1.29.json")
    raw = load(emit(header, []), tmp_path)
    sizes = {name: layout(header, record, HERE)[0] for name, record in header.records.items()}
    assert sizes == {name: ctypes.sizeof(getattr(raw, name)) for name in header.records}
    assert sizes["OrtApi"] == 425 * ctypes.sizeof(ctypes.c_void_p)


def test_platforms_differ_where_c_does() -> None:
    header = read(MAIN + "struct OrtWide { long a; wchar_t b; void* c; };\n")
    assert [layout(header, header.records["OrtWide"], model) for model in MODELS] == [(24, 8), (16, 8), (12, 4)]
