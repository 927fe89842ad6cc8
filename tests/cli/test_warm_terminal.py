"""``ortcache warm`` on a terminal: the display, the questions, Ctrl-C."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from ortcache.bridge.places import roots
from ortcache.cli.sample import mul_model
from ortcache.stores.url import open_store

from ..support.cli import run, shadow
from ..support.installed import library_file
from ..support.oracles import ROOT, need

pty = pytest.importorskip("pty")  # Windows has none

_EP = "MulExecutionProvider"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class _Terminal:
    """A command with standard error, and input where it is wanted, on a terminal."""

    def __init__(self, *args: str, path: Path | None = None) -> None:
        need("linux", sys.platform.startswith("linux"))
        self._mine, its = pty.openpty()
        env = {name: value for name, value in os.environ.items() if not name.startswith("ORTCACHE_")}
        env |= {
            "TERM": "xterm",
            "COLUMNS": "200",
            "PYTHONPATH": os.pathsep.join([*([str(path)] if path else []), str(ROOT)]),
        }
        self.process = subprocess.Popen(
            # As a terminal starts it: a shell's background job, which the tests may be, ignores interrupts.
            ["env", "--default-signal=INT", sys.executable, "-m", "ortcache", *args],
            env=env, stdin=its, stdout=subprocess.PIPE, stderr=its, start_new_session=True,
        )  # fmt: skip
        os.close(its)
        self.shown = ""

    def until(self, text: str, seconds: float = 60) -> None:
        """Read until this is shown."""
        end = time.monotonic() + seconds
        while text not in self.shown:
            assert time.monotonic() < end and self._read(), f"{text!r} is not in {self.shown!r}"

    def write(self, text: str) -> None:
        os.write(self._mine, text.encode())

    def end(self) -> tuple[int, str]:
        """Exit code and standard output."""
        while self._read():
            pass
        assert self.process.stdout is not None
        out = self.process.stdout.read().decode()
        return self.process.wait(60), out

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()
        os.close(self._mine)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._mine], [], [], 30)
        assert ready, f"nothing more came after {self.shown!r}"
        try:
            data = os.read(self._mine, 65536)
        except OSError:  # the other end is closed
            return False
        self.shown += data.decode()
        return bool(data)


@pytest.fixture
def model(tmp_path: Path) -> str:
    library_file()
    (tmp_path / "mul.onnx").write_bytes(mul_model())
    return str(tmp_path / "mul.onnx")


@contextlib.contextmanager
def _on_terminal(*args: str, path: Path | None = None) -> Iterator[_Terminal]:
    terminal = _Terminal(*args, path=path)
    try:
        yield terminal
    finally:
        terminal.close()


def test_the_display_lives_during_a_build_and_leaves_only_what_happened(model: str, tmp_path: Path) -> None:
    need("rich", find_spec("rich"))
    delay = ("--option", "compile_delay_ms=2500")
    with _on_terminal("warm", model, "--ep", _EP, "--store", str(tmp_path / "store"), "--json", *delay) as terminal:
        terminal.until("is not stored: building")
        before = len(terminal.shown)
        terminal.until("0:00:02")
        during = terminal.shown[before:]
        code, out = terminal.end()
    assert code == 0 and json.loads(out)["models"][0]["outcome"] == "built"
    frames = set(re.findall("[\u2800-\u28ff]", during))
    assert len(frames) >= 3  # the spinner turns while the provider builds
    assert _CONTROL.search(terminal.shown)
    lines = [line.strip() for line in _CONTROL.sub("", terminal.shown).splitlines()]
    assert any(line.endswith("B") and "stored mul-" in line for line in lines)


def test_without_rich_a_terminal_gets_plain_lines_and_the_way_to_a_display(model: str, tmp_path: Path) -> None:
    hidden = shadow(tmp_path / "hidden", "rich", "raise ImportError('not here')")
    args = ("warm", model, "--ep", _EP, "--store", str(tmp_path / "store"))
    with _on_terminal(*args, path=hidden) as terminal:
        code, out = terminal.end()
    assert code == 0 and " built " in out
    assert "pip install 'ortcache[cli]'" in terminal.shown and "is not stored: building" in terminal.shown
    assert not _CONTROL.search(terminal.shown)


_SLOW = """
import os, time
from pathlib import Path
from tests.support.ep_classes import PlainMul

class SlowEp(PlainMul):
    name = "SlowEp"

    def compile(self, graph, node):
        Path(os.environ["SLOW_PID"]).write_text(str(os.getpid()))
        time.sleep(120)
"""


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_ends_the_build_and_leaves_nothing(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int
) -> None:
    (tmp_path / "slow.py").write_text(_SLOW)
    pid = tmp_path / "pid"
    monkeypatch.setenv("SLOW_PID", str(pid))
    args = ("warm", model, "--ep", "slow:SlowEp", "--store", str(tmp_path / "store"), "--mode", "directory")
    with _on_terminal(*args, "--cache-option", "dir", path=tmp_path) as terminal:
        deadline = time.monotonic() + 60
        while not pid.exists() or not pid.read_text():
            assert time.monotonic() < deadline, terminal.shown
            time.sleep(0.05)
        child = int(pid.read_text())
        assert _private_directories(child)
        if number == signal.SIGINT:  # what the terminal does: every process in front gets it
            os.killpg(terminal.process.pid, number)
        else:
            terminal.process.send_signal(number)
        ended, out = terminal.end()
    assert (ended, out) == (code, "")
    assert "Traceback" not in terminal.shown
    with pytest.raises(ProcessLookupError):
        os.kill(child, 0)
    assert _private_directories(child) == []
    assert list(open_store(tmp_path / "store").keys()) == []


_LOADS_SLOWLY = """
import os, time
from pathlib import Path
from tests.support.ep_classes import PlainMul

class SlowEp(PlainMul):
    name = "SlowEp"

    def compile(self, graph, node):
        plan = Path(self.context.options["dir"]) / "plan"
        if not plan.exists():
            plan.write_bytes(b"plan")
        elif plan.read_bytes() and "SLOW_PID" in os.environ:
            Path(os.environ["SLOW_PID"]).write_text(str(os.getpid()))
            time.sleep(120)
        return super().compile(graph, node)
"""


def test_an_entry_whose_loading_is_interrupted_is_as_good_as_before(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "slow.py").write_text(_LOADS_SLOWLY)
    pid = tmp_path / "pid"
    args = ("warm", model, "--ep", "slow:SlowEp", "--store", str(tmp_path / "store"), "--cache-option", "dir", "--json")
    assert run(*args, path=tmp_path).code == 0
    monkeypatch.setenv("SLOW_PID", str(pid))
    with _on_terminal(*args, path=tmp_path) as terminal:
        deadline = time.monotonic() + 60
        while not pid.exists() or not pid.read_text():
            assert time.monotonic() < deadline, terminal.shown
            time.sleep(0.05)
        os.killpg(terminal.process.pid, signal.SIGINT)
        assert terminal.end()[0] == 130
    assert _private_directories(int(pid.read_text())) == []
    monkeypatch.delenv("SLOW_PID")
    (again,) = json.loads(run(*args, path=tmp_path).out)["models"]
    assert again["outcome"] == "hit" and again["stats"]["quarantined"] == 0


def _private_directories(pid: int) -> list[str]:
    return [
        path.name
        for root in roots()
        for path in root.iterdir()
        if path.name.startswith(f"ortcache-{os.geteuid()}-{pid}-")
    ]


def test_get_wants_a_file_for_what_is_binary(tmp_path: Path) -> None:
    need("linux", sys.platform.startswith("linux"))
    store = str(tmp_path / "store")
    open_store(store).put("key", b"\0\1")
    mine, its = pty.openpty()
    try:
        for force, code in (((), 2), (("-f",), 0)):
            done = subprocess.run(
                [sys.executable, "-m", "ortcache", "get", store, "key", *force],
                cwd=ROOT, stdin=subprocess.DEVNULL, stdout=its, stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == code
            assert ("-o FILE" in done.stderr) is bool(code)
        assert os.read(mine, 10) == b"\0\1"
    finally:
        os.close(mine)
        os.close(its)


@pytest.mark.parametrize(("answer", "code", "left"), [("y\n", 0, 0), ("\n", 1, 1), ("no\n", 1, 1), ("\x04", 1, 1)])
def test_rm_all_asks_on_a_terminal(tmp_path: Path, answer: str, code: int, left: int) -> None:
    store = str(tmp_path / "store")
    open_store(store).put("key", b"value")
    with _on_terminal("rm", store, "--all") as terminal:
        terminal.until(f"Remove all 1 entry of {store}? [y/N] ")
        terminal.write(answer)
        ended, _ = terminal.end()
    assert ended == code
    assert len(list(open_store(store).keys())) == left


def test_put_does_not_wait_for_a_terminal(tmp_path: Path) -> None:
    with _on_terminal("put", str(tmp_path / "store"), "key") as terminal:
        assert terminal.end()[0] == 2
    assert "name a FILE" in terminal.shown and not (tmp_path / "store").exists()
