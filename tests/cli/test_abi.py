"""``ortcache abi``: it shows what is declared, all of it, and nothing else."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ortcache import raw
from ortcache.cli import main


def _json(capsys: pytest.CaptureFixture[str], *args: str) -> Any:
    assert main(["abi", *args, "--json"]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def _text(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main(["abi", *args]) in (0, 1)
    return capsys.readouterr().out


def test_ls_counts_what_the_structs_have(capsys: pytest.CaptureFixture[str]) -> None:
    document = _json(capsys, "ls")
    assert document["generated_api_version"] == raw.GENERATED_API_VERSION
    tables = {table["name"]: table for table in document["tables"]}
    assert {"OrtApi", "OrtEpApi", "OrtModelEditorApi", "OrtCompileApi", "OrtInteropApi"} <= set(tables)
    for name, table in tables.items():
        assert table["members"] == len(getattr(raw, name)._fields_)
    assert tables["OrtApi"]["newest"] == raw.GENERATED_API_VERSION
    text = _text(capsys, "ls")
    assert all(f"\n{name} " in text for name in tables)


@pytest.mark.parametrize("kind", ["tables", "structs", "enums", "callbacks", "handles", "constants", "keys"])
def test_ls_of_a_kind_lists_names_that_show_knows(kind: str, capsys: pytest.CaptureFixture[str]) -> None:
    names = _json(capsys, "ls", kind)["names"]
    assert len(names) == _json(capsys, "ls")["counts"][kind]
    assert _text(capsys, "ls", kind).split() == names
    for name in (names[0], names[-1]):
        assert name in {found["name"] for found in _json(capsys, "show", name)}


def test_show_gives_a_struct_in_order_with_index_since_and_signature(capsys: pytest.CaptureFixture[str]) -> None:
    (struct,) = _json(capsys, "show", "OrtApi")
    assert [m["name"] for m in struct["members"]] == [field[0] for field in raw.OrtApi._fields_]
    run = struct["members"][9]
    assert (run["index"], run["name"], run["since"], run["callable"]) == (9, "Run", 1, True)
    assert run["signature"].startswith("OrtStatus* Run(OrtSession* session, const OrtRunOptions* run_options, ")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Run", "OrtApi.Run: index 9, since 1.1\n  OrtStatus* Run("),
        ("OrtApi.Run", "OrtApi.Run: index 9, since 1.1\n"),
        ("ortapi.RUN", "OrtApi.Run: index 9, since 1.1\n"),
        ("ORT_NO_SUCHFILE", "ORT_NO_SUCHFILE = 3 in enum OrtErrorCode\n"),
        ("OrtErrorCode", "  3  ORT_NO_SUCHFILE\n"),
        ("OrtLoggingFunction", "callback OrtLoggingFunction (stdcall)\n  void (*OrtLoggingFunction)(void* param, "),
        ("OrtSession", "void ReleaseSession(OrtSession* input)\n"),
        ("ORT_API_VERSION", f"constant ORT_API_VERSION = {raw.HEADERS_API_VERSION}\n"),
        ("session.disable_prepacking", 'kOrtSessionOptionsConfigDisablePrepacking = "session.disable_prepacking"\n'),
        ("kOrtSessionOptionsConfigDisablePrepacking", '= "session.disable_prepacking"\n'),
        ("SessionOptionsSetEpCacheDataFuncs", "proposed, in no release\n"),
        ("OrtApi.placeholder_427", "keeps the layout, its name or parameters are not known\n"),
        ("trt_fp16_enable", "since-version not known\n  int trt_fp16_enable\n"),
    ],
)
def test_show_finds_every_kind_of_name(name: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert said in _text(capsys, "show", name)


def test_show_gives_every_struct_that_has_the_name(capsys: pytest.CaptureFixture[str]) -> None:
    structs = {found["struct"] for found in _json(capsys, "show", "GetName")}
    assert {"OrtEp", "OrtEpFactory"} <= structs


@pytest.mark.parametrize(
    ("name", "close"),
    [("Rnu", "Run"), ("CreateSesion", "CreateSession"), ("OrtErrorcodes", "OrtErrorCode"), ("prepacking", "session.")],
)
def test_an_unknown_name_gives_close_ones(name: str, close: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abi", "show", name]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert repr(name) in printed.err.splitlines()[0] and close in printed.err


def test_a_name_like_no_other_says_where_the_names_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abi", "show", "xyzzyxyzzy"]) == 2
    assert "`ortcache abi ls KIND` lists the names" in capsys.readouterr().err


def test_diff_gives_exactly_the_members_in_between(capsys: pytest.CaptureFixture[str]) -> None:
    document = _json(capsys, "diff", "24", "25")
    names = {m["name"] for m in document["added"] if m["struct"] == "OrtApi"}
    assert names == {slot.name for slot in raw.slots("OrtApi") if slot.since == 25} != set()
    assert document["removed"] == []
    steps = [len(_json(capsys, "diff", str(v), str(v + 1))["added"]) for v in range(20, raw.GENERATED_API_VERSION)]
    assert sum(steps) == len(_json(capsys, "diff", "20", str(raw.GENERATED_API_VERSION))["added"])


def test_going_back_is_a_break_and_names_what_goes(capsys: pytest.CaptureFixture[str]) -> None:
    forth = _json(capsys, "diff", "29", "31")
    assert main(["abi", "diff", "31", "29"]) == 1
    said = capsys.readouterr().out
    assert f"0 members added, {len(forth['added'])} removed" in said
    assert all(m["name"] in said for m in forth["added"])


def test_equal_versions_have_no_difference(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["abi", "diff", "1.29", "1.29.0"]) == 0
    assert "0 members added, 0 removed" in capsys.readouterr().out


def test_proposed_members_belong_to_no_version(capsys: pytest.CaptureFixture[str]) -> None:
    names = {m["name"] for m in _json(capsys, "diff", "1", str(raw.GENERATED_API_VERSION))["added"]}
    assert "SessionOptionsSetEpContextDataReadFunc" in names
    assert "SessionOptionsSetEpCacheDataFuncs" not in names


@pytest.mark.parametrize("version", ["0", "33", "1.99", "2.0", "new", "", "29.1", "-1"])
def test_a_version_that_is_none_is_wrong_usage(version: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["abi", "diff", "29", version])
    assert ended.value.code == 2
    assert "ortcache abi diff: error:" in capsys.readouterr().err
