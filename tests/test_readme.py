"""The README's examples run as they stand, and its two commands are the ones that CI runs."""

from __future__ import annotations

import ast
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ortcache.cli import main

from .support.installed import library_file
from .support.oracles import ROOT
from .support.readme import README, blocks


def _run(block: str, names: dict[str, Any]) -> int:
    """Run a block; where a line is an expression with a comment, its value must be what the comment says."""
    lines, checked = block.splitlines(), 0
    tree = ast.parse(block)
    for node in ast.walk(tree):
        expected = lines[node.end_lineno - 1].partition("  # ")[2] if isinstance(node, ast.Expr) else ""  # type: ignore[operator]
        if expected and not _is_print(node):
            node.value = _compared(node.value, expected)  # type: ignore[attr-defined]
            checked += 1
    exec(compile(ast.fix_missing_locations(tree), "README.md", "exec"), names)
    return checked


def _is_print(node: ast.AST) -> bool:
    call = getattr(node, "value", None)
    return isinstance(call, ast.Call) and getattr(call.func, "id", "") == "print"


def _compared(value: ast.expr, expected: str) -> ast.expr:
    return ast.Call(ast.Name("_same", ast.Load()), [value, ast.Constant(expected)], [])


def _same(value: object, expected: str) -> None:
    assert repr(value) == expected


def test_the_python_examples_run_and_give_what_they_say(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    library_file()
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"_same": _same}
    assert sum(_run(block, names) for block in blocks("python")) > 12
    said = capsys.readouterr().out
    for part in (
        "ONNX Runtime 1.",
        "since ONNX Runtime 1.31",
        "closed",
        "the model needs the inputs X",
        "no input 'Z'",
    ):
        assert part in said


def test_a_wrong_value_in_an_example_is_found() -> None:
    assert _run("1 + 1  # 2\nprint(3)  # 4\nx = 5  # 6\n", {"_same": _same}) == 1
    with pytest.raises(AssertionError):
        _run("1 + 1  # 3\n", {"_same": _same})


@pytest.mark.parametrize(("which", "end"), [("demo", ".venv/bin/ortcache demo"), ("test", "-m pytest -q")])
def test_both_commands_are_one_line_to_paste(which: str, end: str) -> None:
    done = subprocess.run(
        ["bash", str(ROOT / "scripts" / "readme-command"), which], capture_output=True, text=True, check=True
    )
    assert done.stdout.count("\n") == 1
    assert done.stdout in "".join(blocks("sh"))
    assert done.stdout.rstrip().endswith(end)


def test_every_command_of_ours_that_is_named_exists() -> None:
    named = set(re.findall(r"`ortcache ([a-z]+(?: [a-z]+)?)", README))
    assert named >= {"doctor", "abi show", "abi ls"}
    for command in named:
        with pytest.raises(SystemExit) as ended:
            main([*command.split(), "--help"])
        assert ended.value.code == 0, command


def test_every_nox_session_that_is_named_exists() -> None:
    source = (ROOT / "noxfile.py").read_text("utf-8")
    sessions = set(re.findall(r"^def (\w+)\(session", source, re.MULTILINE))
    assert {"lint", "types", "tests", "regen", "matrix", "stress", "nodes", "bench", "docs"} <= sessions
