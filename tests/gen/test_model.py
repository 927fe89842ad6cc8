"""The model's types as text and back."""

from __future__ import annotations

import pytest

from gen.errors import GenError
from gen.model import CType, Function, Header, Member, Param, Record

TYPES = {
    "int": CType("int"),
    "const char*": CType("char", True, (False,)),
    "const char* const*": CType("char", True, (True, False)),
    "unsigned long long": CType("unsigned long long"),
    "OrtEnv**": CType("OrtEnv", pointers=(False, False)),
    "void* const": CType("void", pointers=(True,)),
    "const int[2][3]": CType("int", True, dims=(2, 3)),
    "char*[4]": CType("char", pointers=(False,), dims=(4,)),
}


@pytest.mark.parametrize("text", TYPES)
def test_a_type_is_its_text_and_back(text: str) -> None:
    assert str(TYPES[text]) == text
    assert CType.parse(text) == TYPES[text]


@pytest.mark.parametrize("text", ["", "*", "int x*", "int[", "int[n]", "2int", "int *", "const"])
def test_other_text_is_no_type(text: str) -> None:
    if text == "const":  # a name like any other, here
        assert CType.parse(text) == CType("const")
        return
    with pytest.raises(GenError, match="not a type"):
        CType.parse(text)


def test_parameters_and_functions() -> None:
    param = Param("names", CType("char", True, (True, False)))
    assert str(param) == "const char* const* names" and Param.parse(str(param)) == param
    function = Function(CType("OrtStatus", pointers=(False,)), (param,), "stdcall")
    assert str(function) == "stdcall OrtStatus*(const char* const* names)"


def test_the_abi_is_the_same_whatever_parameters_are_called() -> None:
    one = Function(CType("int"), (Param("a", CType("int")),))
    assert one.same_abi(Function(CType("int"), (Param("b", CType("int")),)))
    assert not one.same_abi(Function(CType("int"), (Param("a", CType("long")),)))
    assert not one.same_abi(Function(CType("int"), (Param("a", CType("int")),), "stdcall"))
    assert not one.same_abi(CType("int"))
    assert Member("m", one).same_abi(Member("m", one, since=3))
    assert not Member("m", one).same_abi(Member("n", one))
    assert not Member("m", CType("int"), bits=3).same_abi(Member("m", CType("int")))


def test_records_find_members_and_headers_know_names() -> None:
    record = Record("S", [Member("a", CType("int")), Member("b", CType("int"))])
    assert record.find("b") == (1, record.members[1]) and record.find("c") is None
    header = Header(records={"S": record}, handles=["H"], constants={"ORT_API_VERSION": 7})
    assert all(header.knows(name) for name in ("S", "H", "int", "ORTCHAR_T")) and not header.knows("T")
    assert header.api_version == 7
    with pytest.raises(GenError, match="ORT_API_VERSION"):
        _ = Header().api_version
