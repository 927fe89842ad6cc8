"""No pickle, no evaluated text, no shell in the library; small files; nothing of one machine in any file."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

import pytest

from .support.oracles import ROOT
from .support.source import forbidden_calls, forbidden_text

_GENERATED = ("ortcache/raw/__init__.py", "ortcache/raw/_declarations.py", "ortcache/raw/constants.py",
              "ortcache/raw/enums.py")  # fmt: skip
_LONGEST = 300  # lines of a hand-written module; the aim is 200


def _files() -> list[Path]:
    """The project's files: what git tracks, or in an unpacked archive everything."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode == 0 and listed.stdout:
        files = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:
        files = [path for part in ("ortcache", "gen", "tests", "scripts") for path in (ROOT / part).rglob("*")]
    return [path for path in files if path.is_file() and "__pycache__" not in path.parts]


def _texts(*prefixes: str, suffix: str = "") -> dict[str, str]:
    found = {}
    for path in _files():
        name = path.relative_to(ROOT).as_posix()
        if name.startswith(prefixes) and name.endswith(suffix):
            data = path.read_bytes()
            if b"\0" not in data:
                found[name] = data.decode("utf-8")
    return found


def test_the_library_has_no_pickle_no_evaluated_text_and_no_shell() -> None:
    modules = _texts("ortcache/", suffix=".py")
    assert len(modules) > 20
    assert [f"{name}:{line}" for name, source in modules.items() for line in forbidden_calls(source)] == []


def test_no_file_holds_a_path_of_a_machine_or_a_registry_host() -> None:
    files = _texts("")
    assert "README.md" in files or "pyproject.toml" in files
    assert [f"{name}:{line}" for name, text in files.items() for line in forbidden_text(text)] == []


def test_hand_written_modules_stay_small() -> None:
    sizes = {
        name: len(text.splitlines())
        for name, text in _texts("ortcache/", "gen/", "tests/", suffix=".py").items()
        if name not in _GENERATED
    }
    assert {name: size for name, size in sizes.items() if size > _LONGEST} == {}


def test_scripts_are_short_and_say_what_they_are_for() -> None:
    for name, text in _texts("scripts/", ".ci/").items():
        lines = text.splitlines()
        if name.startswith("scripts/"):
            assert len(lines) <= 30, name
        assert lines[0].startswith("#!") and lines[1].startswith("# "), name


def test_modules_say_what_they_are_and_what_they_offer() -> None:
    for name, source in _texts("ortcache/", suffix=".py").items():
        assert source.lstrip().startswith(('"""', "#")), name
        has_names = len(ast.parse(source).body) > 1  # more than a docstring
        assert not has_names or "__all__" in source or name.endswith("_declarations.py"), name


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import pickle", "pickle"),
        ("from pickle import loads", "pickle"),
        ("def f():\n    import dill.source", "dill.source"),
        ("eval('1')", "eval"),
        ("exec(text)", "exec"),
        ("import os\nos.system('ls')", "os.system"),
        ("from os import system", "os.system"),
        ("subprocess.run('ls', shell=True)", "a shell"),
        ("subprocess.Popen(command, shell=flag)", "a shell"),
        ("numpy.load(path, allow_pickle=True)", "allow_pickle"),
    ],
)
def test_a_forbidden_call_is_found(source: str, said: str) -> None:
    assert [line.partition(": ")[2] for line in forbidden_calls(source)] == [said]


@pytest.mark.parametrize(
    "source", ["subprocess.run(['ls'])", "subprocess.run(['ls'], shell=False)", "re.compile('x')", "self.run(shell)"]
)
def test_an_allowed_call_is_let_through(source: str) -> None:
    assert forbidden_calls(source) == []


@pytest.mark.parametrize("text", ["see /ho" + "me/me/x", "in /wor" + "k/main", "https://py" + "pi.org/simple"])
def test_forbidden_text_is_found(text: str) -> None:
    assert len(forbidden_text(text)) == 1


@pytest.mark.parametrize("text", ["/usr/lib/x", "https://example.org/home/x", "work/main", "relative/home/x"])
def test_allowed_text_is_let_through(text: str) -> None:
    assert forbidden_text(text) == []
