"""The first oracle agrees with what is right, names what is wrong, and starts no compiler."""

from __future__ import annotations

import copy
import importlib.util
from collections.abc import Callable
from pathlib import Path

import pytest

from gen.model import CType, Function, Header, Member, Param, Record
from gen.oracle_ctypesgen import compare
from gen.parse import parse
from gen.preprocess import preprocess
from gen.report import Report

TEXT = """
#include <stdbool.h>
#include <stdint.h>
#define ORT_API_CALL
typedef struct Env Env;
typedef enum Kind { Kind_A, Kind_B = 1 << 4, Kind_C = 0x20, Kind_TOP = 1 << 31, Kind_LAST = -3 } Kind;
typedef void(ORT_API_CALL* Log)(void* state, const char* text, Kind kind);
typedef struct Point { int32_t x; unsigned int low : 3; unsigned int high : 29; int w; uint8_t y[3]; bool z; } Point;
union Either { int i; double d; };
struct __attribute__((packed)) Tight { char c; int i; };
typedef struct Api {
  Env*(ORT_API_CALL* Open)(const char* const* names, size_t count, Log log, Env** out);
  void(ORT_API_CALL* Close)(Env* env);
  const char*(ORT_API_CALL* Name)(void);
  struct { int a; struct { char b; } c; } inner;
  int64_t sizes[2][4];
  Log* logs;
  union Either* either;
  void* state;
} Api;
const Api* GetApi(uint32_t version);
"""


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    path = tmp_path / "api.h"
    path.write_text(TEXT, "utf-8")
    return [path]


@pytest.fixture
def header(files: list[Path]) -> Header:
    return parse(preprocess(files))


def test_it_agrees_and_counts(header: Header, files: list[Path]) -> None:
    report = compare(header, files, "small")
    assert report.lines() == [
        "ctypesgen, small: ran: 1 handles, 6 structs, 21 members, 1 enums, 5 enumerators, 1 functions compared"
    ]


def test_empty_declarations_are_no_problem(header: Header, files: list[Path]) -> None:
    files[0].write_text(TEXT.replace("} Point;", "} Point;;\n;"), "utf-8")
    assert compare(header, files, "small").status == "ran"


def test_no_compiler_runs(header: Header, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(files[0].parent))
    assert compare(header, files, "small").status == "ran"


def members(header: Header, name: str = "Api") -> list[Member]:
    return header.records[name].members


def swap(header: Header) -> None:
    slots = members(header)
    slots[0], slots[1] = slots[1], slots[0]


def widen(header: Header) -> None:
    members(header, "Point")[0].type = CType("int64_t")


def lose_a_star(header: Header) -> None:
    members(header)[6].type = CType("Either", pointers=(False, False))


def change_a_parameter(header: Header) -> None:
    close = members(header)[1]
    close.type = Function(CType("void"), (Param("env", CType("Env", pointers=(False, False))),), "stdcall")


def change_a_result(header: Header) -> None:
    members(header)[2].type = Function(CType("void", pointers=(False,)), (), "stdcall")


def change_a_callback(header: Header) -> None:
    header.callbacks["Log"].type = Function(CType("int"), header.callbacks["Log"].type.params)


def change_a_dimension(header: Header) -> None:
    members(header)[4].type = CType("int64_t", dims=(4, 2))


def change_bits(header: Header) -> None:
    members(header, "Point")[1].bits = 4


def rename(header: Header) -> None:
    members(header)[1].name = "Shut"


def rename_inner(header: Header) -> None:
    members(header, "Api_inner_c")[0].name = "d"


def drop_the_last(header: Header) -> None:
    members(header).pop()


def append(header: Header) -> None:
    members(header).append(Member("more", CType("int")))


def unpack(header: Header) -> None:
    header.records["Tight"].pack = None


def make_a_struct(header: Header) -> None:
    header.records["Either"].kind = "struct"


def drop_a_struct(header: Header) -> None:
    del header.records["Tight"]


def invent_a_struct(header: Header) -> None:
    header.records["Ghost"] = Record("Ghost", [Member("x", CType("int"))])


def drop_a_handle(header: Header) -> None:
    header.handles.remove("Env")


def change_a_value(header: Header) -> None:
    header.enums["Kind"].values["Kind_C"] = 33


def drop_an_enumerator(header: Header) -> None:
    del header.enums["Kind"].values["Kind_LAST"]


def drop_an_enum(header: Header) -> None:
    del header.enums["Kind"]


def change_a_function(header: Header) -> None:
    header.functions["GetApi"] = Function(CType("Api", pointers=(False,)), (Param("version", CType("int64_t")),))


def drop_a_function(header: Header) -> None:
    header.functions.clear()


WRONG: dict[Callable[[Header], None], str] = {
    swap: "Api member 0: Close here, Open there",
    widen: "Point member 0 x: long long here, int there",
    lose_a_star: "Api member 6 either: Either** here, Either* there",
    change_a_parameter: "Api member 1 Close: <void(Env**)> here, <void(Env*)> there",
    change_a_result: "Api member 2 Name: <void*()> here, <char*()> there",
    change_a_callback: "Api member 5 logs: <int(void*, char*, Kind)>* here, <void(void*, char*, Kind)>* there",
    change_a_dimension: "Api member 4 sizes: long long[4][2] here, long long[2][4] there",
    change_bits: "Point member 1 low: unsigned int:4 here, unsigned int:3 there",
    rename: "Api member 1: Shut here, Close there",
    rename_inner: "Api_inner_c member 0: d here, b there",
    drop_the_last: "Api has as many members: 7 here, 8 there",
    append: "Api has as many members: 9 here, 8 there",
    unpack: "Tight is packed: False here, True there",
    make_a_struct: "Either is a: struct here, union there",
    drop_a_struct: "struct Tight: it is missing here",
    invent_a_struct: "struct Ghost: ctypesgen does not see it",
    drop_a_handle: "handle Env: it is missing here",
    change_a_value: "Kind.Kind_C: 33 here, 32 there",
    drop_an_enumerator: "enumerator of Kind Kind_LAST: it is missing here",
    drop_an_enum: "enum Kind: it is missing here",
    change_a_function: "function GetApi: <Api*(long long)> here, <Api*(unsigned int)> there",
    drop_a_function: "function GetApi: it is missing here",
}


@pytest.mark.parametrize("change", WRONG, ids=lambda change: change.__name__)
def test_a_wrong_snapshot_is_named(change: Callable[[Header], None], header: Header, files: list[Path]) -> None:
    wrong = copy.deepcopy(header)
    change(wrong)
    report = compare(wrong, files, "small")
    assert report.status == "failed"
    assert WRONG[change] in report.problems


def test_what_ctypesgen_cannot_read_is_a_problem(header: Header, files: list[Path]) -> None:
    files[0].write_text(TEXT + "struct Broken { int ((( };\n", "utf-8")
    report: Report = compare(header, files, "small")
    assert any(line.startswith("ctypesgen: ") for line in report.problems)


def test_without_ctypesgen_it_does_not_run(header: Header, files: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    report = compare(header, files, "small")
    assert report.status == "not run" and "pip install ctypesgen" in report.lines()[0]
