"""The second oracle agrees with what is right, and names what a C compiler sees otherwise."""

from __future__ import annotations

import copy
from collections.abc import Callable
from pathlib import Path

import pytest

from gen import oracle_probe
from gen.model import CType, Function, Header, Member, Param, Record
from gen.oracle_probe import compare
from tests.support.c_headers import bound
from tests.support.oracles import compiler

TEXT = """
#include <stdint.h>
#define ORT_API_VERSION 1
#define ORT_API_CALL
#define ORTCHAR_T char
#define NUMBER 40
#define HALF 0.5f
#define TEXT "caf\\u00e9"
#define WIDE L"w\\u00e9"
#define BIG 0xFFFFFFFFFFFFFFFFull
typedef struct Env Env;
typedef enum Flag { Flag_A = 1 << 0, Flag_TOP = 1 << 31 } Flag;
enum Kind { Kind_A = -2, Kind_B };
typedef void(ORT_API_CALL* Log)(void* state, const char* text, enum Kind kind);
typedef struct Point { int32_t x; unsigned int low : 3; int high : 7; int w; uint8_t y[3]; } Point;
typedef struct Api {
  Env*(ORT_API_CALL* Open)(const char* const* names, const ORTCHAR_T* path, Log log, Env** out);
  void(ORT_API_CALL* Close)(Env* env);
  union { int a; struct { char b; double c; }; };
  struct { char d; Point e[2]; } inner[3];
  Flag flag;
  void* last;
} Api;
static const char* const kKey = "the.key";
static const char kOther[] = "other";
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    compiler()
    path = tmp_path / "api.h"
    path.write_text(TEXT, "utf-8")
    return [path]


@pytest.fixture
def header() -> Header:
    return bound(TEXT, tail=False)[0]


def test_it_agrees_and_counts(header: Header, files: list[Path]) -> None:
    report = compare(header, files, "small")
    assert report.lines() == [
        "compiler, small: ran: 3 structs, 15 members, 13 types, 2 enums, 4 enumerators, 6 constants, 2 keys compared"
    ]


def members(header: Header, name: str = "Api") -> list[Member]:
    return header.records[name].members


def swap_two_of_one_size(header: Header) -> None:
    slots = members(header)
    slots[0], slots[1] = slots[1], slots[0]


def narrow(header: Header) -> None:
    members(header, "Point")[0].type = CType("int16_t")


def change_the_sign(header: Header) -> None:
    members(header, "Point")[0].type = CType("uint32_t")


def forget_const(header: Header) -> None:
    opens = members(header)[0].type
    assert isinstance(opens, Function)
    first = Param("names", CType("char", True, (False, False)))
    members(header)[0].type = Function(opens.returns, (first, *opens.params[1:]), "stdcall")


def drop_a_parameter(header: Header) -> None:
    members(header)[1].type = Function(CType("void"), (), "stdcall")


def drop_the_last_slot(header: Header) -> None:
    members(header).pop()


def drop_a_slot_inside(header: Header) -> None:
    del members(header)[1]


def append_a_slot(header: Header) -> None:
    members(header).append(Member("More", CType("void", pointers=(False,)), since=1))


def shift_in_the_inner_struct(header: Header) -> None:
    members(header, "Api_inner")[0].type = CType("char", dims=(9,))


def make_a_struct_of_the_union(header: Header) -> None:
    header.records["Api_anonymous2"].kind = "struct"


def pack(header: Header) -> None:
    header.records["Api_anonymous2_1"].pack = 1


def move_bits(header: Header) -> None:
    members(header, "Point")[1].bits = 4


def change_the_sign_of_bits(header: Header) -> None:
    members(header, "Point")[2].type = CType("unsigned int")


def invent_a_struct(header: Header) -> None:
    header.records["Ghost"] = Record("Ghost", [Member("x", CType("int"), since=1)])


def change_a_flag(header: Header) -> None:
    header.enums["Flag"].values["Flag_TOP"] = 1 << 30


def lose_the_sign_of_a_flag(header: Header) -> None:
    header.enums["Flag"].values["Flag_TOP"] = 1 << 31


def change_an_enumerator(header: Header) -> None:
    header.enums["Kind"].values["Kind_B"] = 1


def change_a_constant(header: Header) -> None:
    header.constants["NUMBER"] = 41


def change_a_float(header: Header) -> None:
    header.constants["HALF"] = 0.25


def change_a_string(header: Header) -> None:
    header.constants["TEXT"] = "cafe"


def change_a_wide_string(header: Header) -> None:
    header.constants["WIDE"] = "we"


def change_a_key(header: Header) -> None:
    header.keys["kKey"] = "the.kex"


WRONG: dict[Callable[[Header], None], str] = {
    swap_two_of_one_size: "offsetof Api.Close: 0 here, 8 in C",
    narrow: "sizeof Point.x: 2 here, 4 in C",
    change_the_sign: "Point.x is uint32_t: yes here, no in C",
    forget_const: "Api.Open is stdcall Env*(const char** names,",
    drop_a_parameter: "Api.Close is stdcall void(): yes here, no in C",
    drop_the_last_slot: "sizeof Api: 144 here, 152 in C",
    drop_a_slot_inside: "offsetof Api.a: 8 here, 16 in C",
    append_a_slot: "has no member named",
    shift_in_the_inner_struct: "sizeof Api_inner.d: 9 here, 1 in C",
    make_a_struct_of_the_union: "offsetof Api.b: 24 here, 16 in C",
    pack: "offsetof Api.c: 17 here, 24 in C",
    move_bits: "bits Point.low: 000000000f",
    change_the_sign_of_bits: "value Point.high: 127 here, -1 in C",
    invent_a_struct: "struct Ghost: the headers have nothing of that name",
    change_a_flag: "Flag.Flag_TOP: 1073741824 here, -2147483648 in C",
    lose_the_sign_of_a_flag: "Flag.Flag_TOP: 2147483648 here, -2147483648 in C",
    change_an_enumerator: "Kind.Kind_B: 1 here, -1 in C",
    change_a_constant: "NUMBER: 41 here, 40 in C",
    change_a_float: "HALF: 0.25 here, 0.5 in C",
    change_a_string: "TEXT: ",
    change_a_wide_string: "WIDE: ",
    change_a_key: "kKey: ",
}


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.__name__)
def test_a_wrong_snapshot_is_named(change: Callable[[Header], None], header: Header, files: list[Path]) -> None:
    wrong = copy.deepcopy(header)
    change(wrong)
    report = compare(wrong, files, "small")
    assert report.status == "failed"
    assert any(WRONG[change] in problem for problem in report.problems), report.problems


def test_a_compiler_that_fails_is_a_problem(header: Header, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    script = files[0].with_name("broken-cc")
    script.write_text("#!/bin/sh\necho 'error: out of order' >&2\nexit 3\n")
    script.chmod(0o755)
    monkeypatch.setenv("CC", str(script))
    assert compare(header, files, "small").problems == ["broken-cc ends with 3: error: out of order"]


def test_without_a_compiler_it_does_not_run(header: Header, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(files[0].parent))
    monkeypatch.delenv("CC", raising=False)
    report = compare(header, files, "small")
    assert report.status == "not run" and "no C compiler is on PATH" in report.lines()[0]


def test_cc_chooses_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "surely-no-compiler")
    assert oracle_probe.compiler() is None
    monkeypatch.setenv("CC", compiler())
    assert oracle_probe.compiler() == compiler()
