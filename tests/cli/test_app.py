"""What every command has in common: usage, exit codes, errors in one line, quiet ends."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ortcache
from ortcache.cli import abi_ls, main
from ortcache.cli.sample import mul_model
from ortcache.stores import open_store

from ..support.cli import run
from ..support.installed import library_file
from ..support.oracles import ROOT, need
from ..support.process import run_python


def test_version_is_the_package_s() -> None:
    assert run("--version").out == f"ortcache {ortcache.__version__}\n"


_COMMANDS = ["doctor", "demo", "abi", "ls", "get", "put", "rm", "verify", "prune", "stats", "export", "import", "warm"]


def test_help_names_every_command_in_its_group_and_the_exit_codes() -> None:
    said = run("--help").out
    lines = [line.split()[0] if line.strip() else "" for line in said.splitlines()]
    assert [word for word in lines if word in _COMMANDS] == _COMMANDS
    for word in ("stores:", "caches:", "exit codes", "ORTCACHE_LIBRARY", "ORTCACHE_STORE", "ORTCACHE_DISABLE"):
        assert word in said


@pytest.mark.parametrize("command", [*((name,) for name in _COMMANDS), ("abi", "ls"), ("abi", "show"), ("abi", "diff")])
def test_every_command_has_help(command: tuple[str, ...]) -> None:
    result = run(*command, "--help")
    assert result.code == 0 and result.out.startswith(f"usage: ortcache {' '.join(command)}")
    assert len(result.out.split("\n\n")[1]) > 20  # what it is for


def test_help_loads_neither_numpy_nor_a_library_nor_an_optional_package() -> None:
    code = """
        import sys
        from ortcache.cli import main
        try:
            main(["--help"])
        except SystemExit:
            pass
        print([name for name in ("numpy", "rich", "redis", "obstore", "onnxruntime", "sqlite3") if name in sys.modules])
    """
    assert run_python(code).splitlines()[-1] == "[]"


@pytest.mark.parametrize("args", [(), ("nonsense",), ("abi",), ("abi", "ls", "nonsense"), ("demo", "extra")])
def test_wrong_usage_exits_2_and_says_what_is_right(args: tuple[str, ...]) -> None:
    result = run(*args)
    assert (result.code, result.out) == (2, "")
    assert "usage: ortcache" in result.err


def test_an_error_is_one_line_without_a_traceback(tmp_path: Path) -> None:
    result = run("demo", "--library", str(tmp_path / "none.so"))
    assert (result.code, result.out) == (1, "")
    assert result.err == f"ortcache: path given: there is no file {tmp_path / 'none.so'}\n"


def test_a_reader_that_leaves_early_ends_the_command_quietly() -> None:
    need("linux", sys.platform.startswith("linux"))
    command = [sys.executable, "-m", "ortcache", "abi", "show", "OrtApi"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_full_disk_is_one_line() -> None:
    need("linux", Path("/dev/full").exists())
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "ortcache", "abi", "ls"]
        done = subprocess.run(command, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("ortcache: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("closed", ["stdin", "stdout", "stderr"])
@pytest.mark.parametrize(
    "args", [("put", "none", "key"), ("put", "none", "key", "gone"), ("get", "{}", "key"), ("ls", "{}", "other"),
             ("ls", "none"), ("rm", "{}", "--all"), ("abi", "show", "none")],
)  # fmt: skip
def test_a_closed_stream_is_no_traceback_and_nothing_goes_to_another(
    args: tuple[str, ...], closed: str, tmp_path: Path
) -> None:
    need("linux", sys.platform.startswith("linux"))
    open_store(tmp_path / "store").put("key", b"value")
    command = [sys.executable, "-m", "ortcache", *(arg.format(tmp_path / "store") for arg in args)]
    descriptor = ("stdin", "stdout", "stderr").index(closed)
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, preexec_fn=lambda: os.close(descriptor),
        stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Traceback" not in done.stderr and "ortcache: " not in done.stdout
    if (args[0], closed) in (("put", "stdin"), ("get", "stdout")):
        assert done.returncode in (1, 2)
    if closed != "stderr" and done.returncode:
        assert done.stderr.startswith("ortcache: ") and done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["doctor", "demo", "warm"])
def test_what_lies_in_the_working_directory_is_not_imported(command: str, tmp_path: Path) -> None:
    library_file()
    for name in ("json", "onnxruntime", "numpy"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('this is no {name}')", "utf-8")
    model = tmp_path / "mul.onnx"
    model.write_bytes(mul_model())
    args = [str(model), "--ep", "mul", "--store", str(tmp_path / "store")] if command == "warm" else []
    done = subprocess.run(
        [sys.executable, "-P", "-m", "ortcache", command, *args],  # -P: as the installed script starts
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "this is no" not in done.stdout + done.stderr


def test_a_name_that_the_terminal_cannot_show_is_escaped() -> None:
    result = run("abi", "show", "Größe", PYTHONIOENCODING="ascii")
    assert result.code == 2 and "Gr\\xf6\\xdfe" in result.err


def test_control_c_ends_quietly(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(_args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(abi_ls, "_run", interrupted)
    assert main(["abi", "ls"]) == 130
    assert capsys.readouterr() == ("", "")


def test_a_command_that_runs_inside_a_program_leaves_its_logging_alone(tmp_path: Path) -> None:
    log = logging.getLogger("ortcache.stores")
    before = list(log.filters)
    assert main(["stats", str(tmp_path / "none")]) == 2
    assert log.filters == before
