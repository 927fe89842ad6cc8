"""Real servers on loopback, which end with the tests, whatever ends those."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

from .oracles import ROOT, need

__all__ = ["Redis", "free_port", "make_bucket", "redis_server", "s3_server"]

#: Runs a command until standard input ends: that happens when the tests are gone, however they went.
_KEEPER = """
import subprocess, sys, threading
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
def end():
    sys.stdin.read()
    child.kill()
threading.Thread(target=end, daemon=True).start()
child.wait()
"""

_S3 = """
import logging, sys
logging.getLogger("werkzeug").setLevel(logging.ERROR)
from werkzeug.serving import make_server
from moto.server import DomainDispatcherApplication, create_backend_app
server = make_server("127.0.0.1", 0, DomainDispatcherApplication(create_backend_app), threaded=True)
print(server.port, flush=True)
import threading
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Redis:
    """A redis-server on a port of its own, without anything on the disk.

    Attributes:
        port: where it listens; also that of one that is started again.
    """

    def __init__(self, folder: Path, *arguments: str) -> None:
        program = shutil.which("redis-server")
        need("redis-server", program)
        need("redis", find_spec("redis"))
        self.port = free_port()
        self._command = [str(program), "--bind", "127.0.0.1", "--port", str(self.port), "--dir", str(folder),
                         "--save", "", "--appendonly", "no", *arguments]  # fmt: skip
        self._keeper: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._keeper = _start("-c", _KEEPER, *self._command)
        assert self._keeper.stdout is not None
        self._pid = int(self._keeper.stdout.readline())
        deadline = time.monotonic() + 30
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            assert self._keeper.poll() is None, "redis-server ended"
            assert time.monotonic() < deadline, "redis-server does not listen"
            time.sleep(0.01)

    def kill(self) -> None:
        """As a power cut would."""
        os.kill(self._pid, signal.SIGKILL)
        self.stop()

    @contextlib.contextmanager
    def hanging(self) -> Iterator[None]:
        """It accepts what the system accepts for it, and answers nothing."""
        os.kill(self._pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self._pid, signal.SIGCONT)

    def stop(self) -> None:
        if self._keeper is not None:
            _stop(self._keeper)
            self._keeper = None


@contextlib.contextmanager
def redis_server(folder: Path, *arguments: str) -> Iterator[Redis]:
    """A running `Redis`; the arguments are its configuration, such as ``--maxmemory 10mb``."""
    server = Redis(folder, *arguments)
    try:
        yield server
    finally:
        server.stop()


@contextlib.contextmanager
def s3_server() -> Iterator[str]:
    """The address of moto's S3 server, which takes any credentials."""
    need("moto", find_spec("moto"))
    need("obstore", find_spec("obstore"))
    process = _start("-c", _S3)
    try:
        assert process.stdout is not None
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        _stop(process)


def make_bucket(endpoint: str, name: str) -> None:
    with urllib.request.urlopen(urllib.request.Request(f"{endpoint}/{name}", method="PUT"), timeout=30) as answer:
        assert answer.status == 200


def _start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests: they end it in their own time
    )


def _stop(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.close()
    try:
        process.wait(30)
    finally:
        process.kill()
        process.stdout.close()
