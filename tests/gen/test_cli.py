"""`python -m gen` from outside: help, exit codes, errors in one line, and nothing imported that is not needed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gen.cli import main
from gen.commands import diff as diff_command
from tests.support.oracles import ROOT
from tests.support.small_headers import MAIN, folder


def run(*arguments: str, code: str = "") -> subprocess.CompletedProcess[str]:
    start = ["-c", code] if code else ["-m", "gen"]
    return subprocess.run(
        [sys.executable, *start, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, env=os.environ
    )


@pytest.mark.parametrize("command", ["fetch", "import", "build", "diff"])
def test_each_command_has_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main([command, "--help"])
    assert stopped.value.code == 0
    out = capsys.readouterr().out
    assert out.startswith(f"usage: python -m gen {command} ") and "-h, --help" in out


def test_help_lists_the_commands_and_the_exit_codes() -> None:
    done = run("--help")
    assert done.returncode == 0
    assert all(f"    {command} " in done.stdout for command in ("fetch", "import", "build", "check", "diff"))
    assert "0 all is well, 1 a finding (stale output, a break), 2 bad usage or input" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    "arguments", [[], ["nothing"], ["diff", "1.26"], ["build", "--nothing"], ["fetch", "--from", "a", "--archive", "b"]]
)
def test_wrong_usage_exits_2_and_shows_the_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(arguments)
    assert stopped.value.code == 2
    assert "usage: python -m gen" in capsys.readouterr().err


def test_an_error_is_one_line_and_no_traceback(tmp_path: Path) -> None:
    broken = folder(tmp_path, MAIN + "struct OrtBad { int __attribute__((vector_size(8))) x; };\n")
    done = run("import", "--from", str(broken), "-o", str(tmp_path))
    assert (done.returncode, done.stdout) == (2, "")
    line = MAIN.count("\n") + 1
    assert (
        done.stderr.startswith(f"python -m gen: error: onnxruntime_c_api.h:{line}: ") and "vector_size" in done.stderr
    )
    assert done.stderr.count("\n") == 1


def test_a_folder_that_cannot_be_written_is_an_error_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    assert main(["build", "--out", str(tmp_path / "file" / "raw")]) == 2
    err = capsys.readouterr().err
    assert str(tmp_path / "file") in err and err.count("\n") == 1


def test_without_the_generators_packages_it_says_how_to_install_them() -> None:
    code = "import sys; sys.modules['pcpp'] = None; from gen.cli import main; sys.exit(main(['build']))"
    done = run(code=code)
    assert done.returncode == 2
    assert done.stderr == (
        "python -m gen: error: pcpp is not installed here: `pip install -e .[gen]` brings what the generator needs\n"
    )


def test_a_missing_module_of_our_own_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(_: object) -> int:
        raise ModuleNotFoundError("No module named 'gen.gone'", name="gen.gone")

    monkeypatch.setattr(diff_command, "run", missing)
    with pytest.raises(ModuleNotFoundError, match="gone"):
        main(["diff", "1.26", "1.29"])


def test_fetch_and_help_need_neither_parser_nor_preprocessor() -> None:
    code = (
        "import sys; sys.modules['pcpp'] = sys.modules['pycparser'] = None; from gen.cli import main\n"
        "main(['fetch', '--help'])"
    )
    assert run(code=code).returncode == 0


def test_an_interrupt_is_no_traceback(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(diff_command, "run", interrupted)
    assert main(["diff", "1.26", "1.29"]) == 130
    assert capsys.readouterr().err == "python -m gen: error: interrupted\n"


@pytest.mark.parametrize("arguments", [["diff", "1.26", "1.29"], ["diff", "1.29", "1.29"]])
def test_a_reader_that_goes_away_is_no_traceback(arguments: list[str]) -> None:
    code = (
        "import os, sys\n"
        "read, write = os.pipe(); os.close(read); os.dup2(write, 1)\n"
        f"from gen.cli import main; sys.exit(main({arguments!r}))"
    )
    done = run(code=code)
    assert (done.returncode, done.stderr) == (141, "")
