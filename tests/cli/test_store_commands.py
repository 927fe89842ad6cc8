"""``ls``, ``get``, ``put``, ``rm``: over real stores, as a user runs them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ortcache.scope import Scope
from ortcache.stores.url import open_store

from ..support.cli import run
from ..support.oracles import ROOT, need

VALUE = bytes(range(256)) * 5


@pytest.fixture
def where(tmp_path: Path) -> str:
    """What names a store with three entries."""
    with_three = str(tmp_path / "store")
    for key in ("mul-1.plan", "mul-2.plan", "add-1.plan"):
        open_store(with_three).put(key, VALUE)
    return with_three


def _keys(where: str) -> list[str]:
    return sorted(open_store(where).keys())


def _piped(data: bytes, *args: str) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "ortcache", *args]
    return subprocess.run(command, cwd=ROOT, input=data, capture_output=True, timeout=60, check=False)


def test_what_is_put_is_got_back_to_the_byte(tmp_path: Path) -> None:
    where, file, copy = str(tmp_path / "new" / "store"), tmp_path / "value", tmp_path / "copy"
    file.write_bytes(VALUE)
    assert run("put", where, "from-file", str(file)).out == "from-file: 1.2 KiB stored\n"
    assert _piped(VALUE + b"\n", "put", where, "from-stdin").returncode == 0
    assert _piped(b"", "put", where, "empty", "-").returncode == 0
    assert _piped(b"", "get", where, "from-stdin").stdout == VALUE + b"\n"
    assert _piped(b"", "get", where, "empty").stdout == b""
    result = run("get", where, "from-file", "-o", str(copy), "--json")
    assert json.loads(result.out) == {"key": "from-file", "size": len(VALUE), "output": str(copy)}
    assert copy.read_bytes() == VALUE
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "new", "value"]


def test_get_writes_a_file_whole_or_not_at_all_and_keeps_its_mode(where: str, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(b"before")
    copy.chmod(0o640)
    assert run("get", where, "missing", "-o", str(copy)).code == 1
    assert copy.read_bytes() == b"before"
    assert run("get", where, "mul-1.plan", "-o", str(copy)).code == 0
    assert copy.read_bytes() == VALUE and copy.stat().st_mode & 0o777 == 0o640
    assert run("get", where, "mul-1.plan", "-o", os.devnull).code == 0
    result = run("get", where, "mul-1.plan", "-o", str(tmp_path))
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "store"]


def test_get_of_nothing_is_a_finding_and_says_so(where: str) -> None:
    result = run("get", where, "missing")
    assert (result.code, result.out) == (1, "")
    assert result.err == f"ortcache: nothing is stored as missing in {where}\n"


def test_json_to_standard_output_needs_a_file_for_the_value(where: str) -> None:
    result = run("get", where, "mul-1.plan", "--json")
    assert (result.code, result.out) == (2, "") and "-o FILE" in result.err


def test_ls_lists_in_order_and_json_has_the_same_facts(where: str) -> None:
    lines = run("ls", where).out.splitlines()
    assert [line.split()[-1] for line in lines[1:-1]] == ["add-1.plan", "mul-1.plan", "mul-2.plan"]
    assert lines[-1] == "3 entries, 3.8 KiB"
    document = json.loads(run("ls", where, "--json").out)
    assert [entry["key"] for entry in document["entries"]] == ["add-1.plan", "mul-1.plan", "mul-2.plan"]
    assert {entry["size"] for entry in document["entries"]} == {len(VALUE)}
    assert document["size"] == 3 * len(VALUE) and document["store"] == where
    assert str(len(VALUE)) in run("ls", "-l", where).out


def test_ls_takes_keys_and_patterns_and_names_what_is_not_there(where: str) -> None:
    result = run("ls", where, "mul-*", "add-1.plan", "div-*", "div-1")
    assert result.code == 1
    assert result.out.splitlines()[-1] == "3 entries, 3.8 KiB"
    assert result.err == "ortcache: nothing is stored as div-*\nortcache: nothing is stored as div-1\n"
    document = json.loads(run("ls", where, "mul-[2-9]*", "--json").out)
    assert [entry["key"] for entry in document["entries"]] == ["mul-2.plan"]


def test_ls_sorts_by_size_or_last_use(where: str) -> None:
    open_store(where).put("big", VALUE * 2)
    for order, first in (("size", "big"), ("key", "add-1.plan")):
        document = json.loads(run("ls", where, "--sort", order, "--json").out)
        assert document["entries"][0]["key"] == first
    assert json.loads(run("ls", where, "--sort", "used", "--json").out)["entries"]


def test_an_empty_store_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "store").mkdir(mode=0o700)
    assert run("ls", str(tmp_path / "store")).out == "0 entries, 0 B\n"


@pytest.mark.parametrize(
    "command", [("ls",), ("get", "key"), ("rm", "key"), ("verify",), ("prune", "--max-size", "1"), ("stats",)]
)
def test_a_mistyped_store_is_an_error_and_nothing_is_made(command: tuple[str, ...], tmp_path: Path) -> None:
    where = tmp_path / "mistyped"
    result = run(command[0], str(where), *command[1:])
    assert (result.code, result.out) == (2, "")
    assert result.err == f"ortcache: there is no store at {where}\n"
    assert not where.exists()


def test_the_default_store_is_the_environment_s(where: str) -> None:
    assert run("ls", ORTCACHE_STORE=where).out == run("ls", where).out
    assert run("ls", "-", "add-*", ORTCACHE_STORE=where).out.splitlines()[-1] == "1 entry, 1.2 KiB"
    assert run("rm", "-", "add-1.plan", ORTCACHE_STORE=where).code == 0
    for args in (("ls",), ("get", "-", "mul-1.plan"), ("rm", "-", "mul-1.plan")):
        result = run(*args)
        assert result.code == 2 and "set ORTCACHE_STORE" in result.err
    result = run("ls", "mul-*", ORTCACHE_STORE=where)
    assert result.code == 2 and "write '-' for the one that ORTCACHE_STORE names" in result.err


def test_rm_takes_keys_and_patterns(where: str) -> None:
    result = run("rm", where, "mul-*", "add-1.plan", "--json")
    assert result.code == 0
    assert json.loads(result.out)["removed"] == ["add-1.plan", "mul-1.plan", "mul-2.plan"]
    assert _keys(where) == []


def test_rm_of_what_is_not_there_is_a_finding_and_removes_the_others(where: str) -> None:
    result = run("rm", where, "add-1.plan", "gone", "div-*")
    assert result.code == 1
    assert result.out.splitlines() == ["removed add-1.plan", "1 entry removed"]
    assert [line.split()[-1] for line in result.err.splitlines()] == ["div-*", "gone"]


def test_rm_all_wants_an_answer_that_nobody_can_give_here(where: str) -> None:
    result = run("rm", where, "--all")
    assert (result.code, result.out) == (2, "") and "--yes" in result.err
    assert len(_keys(where)) == 3
    assert run("rm", where, "--all", "--yes").code == 0
    assert _keys(where) == []


@pytest.mark.parametrize("args", [(), ("key", "--all"), ("--all", "--scope", "a"), ("key", "--scope", "a")])
def test_rm_takes_one_of_three(where: str, args: tuple[str, ...]) -> None:
    result = run("rm", where, *args)
    assert result.code == 2 and "one of the three" in result.err
    assert len(_keys(where)) == 3


@pytest.mark.parametrize("key", ["../x", "a/b", ".hidden", "con", "x" * 201, ""])
def test_an_unsafe_key_is_refused_by_every_command(where: str, key: str) -> None:
    for args in (("get", where, key), ("put", where, key, os.devnull), ("rm", where, key),
                 ("ls", where, key)):  # fmt: skip
        result = run(*args)
        assert (result.code, result.out) == (2, ""), args
        assert "is not safe" in result.err and result.err.count("\n") == 1
    assert len(_keys(where)) == 3


def test_an_unsafe_key_leaves_no_store_behind(tmp_path: Path) -> None:
    assert run("put", str(tmp_path / "store"), "../x", os.devnull).code == 2
    assert list(tmp_path.iterdir()) == []


def test_put_of_a_file_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    result = run("put", str(tmp_path / "store"), "key", str(tmp_path / "none"))
    assert (result.code, result.out, result.err.count("\n")) == (1, "", 1)
    assert not (tmp_path / "store").exists()


def test_scopes_are_listed_with_their_parts_and_removed_by_the_start_of_their_digest(where: str) -> None:
    one, two = (Scope.of(model=b"model", ep="MulExecutionProvider", ort_version=v) for v in ("1.31.0", "1.32.0"))
    store = open_store(where)
    one.over(store).put("plan", VALUE)
    two.over(store).put("plan", VALUE)
    document = json.loads(run("ls", where, "--scopes", "--json").out)
    found = {scope["digest"]: scope for scope in document["scopes"]}
    assert found[one.digest]["parts"] == dict(one.parts) and found[two.digest]["entries"] == 1
    text = run("ls", where, "--scopes").out
    assert "ort_version: 1.31.0" in text and text.endswith("2 scopes\n")
    result = run("rm", where, "--scope", one.digest[:12])
    assert result.code == 0 and "ort_version: 1.31.0" in result.out
    assert one.over(store).get("plan") is None and two.over(store).get("plan") == VALUE
    result = run("rm", where, "--scope", one.digest[:12])
    assert result.code == 1 and "no scope's digest starts with" in result.err
    assert run("ls", where, "--scopes", "x").code == 2


def test_a_reader_that_leaves_early_ends_get_quietly(where: str) -> None:
    need("linux", sys.platform.startswith("linux"))
    open_store(where).put("big", bytes(1 << 20))
    command = [sys.executable, "-m", "ortcache", "get", where, "big"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_file_that_is_not_there_is_named(where: str, tmp_path: Path) -> None:
    result = run("put", where, "key", str(tmp_path / "none"))
    assert (result.code, result.err) == (1, f"ortcache: {tmp_path / 'none'}: No such file or directory\n")
    result = run("get", where, "mul-1.plan", "-o", str(tmp_path / "none" / "copy"))
    assert result.code == 1 and result.err.endswith(": No such file or directory\n")
