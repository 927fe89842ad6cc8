"""Servers on loopback that misbehave: for what a real server cannot be made to do."""

from __future__ import annotations

import contextlib
import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

__all__ = ["Proxy", "answering", "proxy", "silent"]


@contextlib.contextmanager
def silent() -> Iterator[int]:
    """The port of a server that accepts every connection and never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as server:
        yield int(server.getsockname()[1])


@contextlib.contextmanager
def answering(answer: Callable[[str, str], tuple[int, bytes]]) -> Iterator[str]:
    """The address of an HTTP server; ``answer`` gets method and path, and gives status and body."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def reply(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, body = answer(self.command, self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = reply

        def log_message(self, *args: object) -> None:
            """Not on stderr."""

    server = _Quiet(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(30)


class _Quiet(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Not on stderr: a client that went away is what these tests are about."""


class Proxy:
    """Passes everything to a real server, unless it is told to fail.

    Attributes:
        port: where it listens.
        cut_after: bytes of answers after which each connection is reset; None for never.
        stall_after: likewise, but then it is silent.
        connections: how many were made.
    """

    def __init__(self, server: socket.socket, target: int) -> None:
        self.port = int(server.getsockname()[1])
        self.cut_after: int | None = None
        self.stall_after: int | None = None
        self.connections = 0
        self._server, self._target = server, target

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._server.accept()
                self.connections += 1
                threading.Thread(target=self._pump, args=(client,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _pump(self, client: socket.socket) -> None:
        passed = 0
        with contextlib.suppress(OSError), client, socket.create_connection(("127.0.0.1", self._target)) as backend:
            while True:
                for source in select.select([client, backend], [], [], 30)[0]:
                    data = source.recv(16384)
                    if not data:
                        return
                    if source is client:
                        backend.sendall(data)
                        continue
                    passed += len(data)
                    for limit in (self.cut_after, self.stall_after):
                        if limit is not None and passed > limit:
                            client.sendall(data[: max(0, len(data) - (passed - limit))])
                    if self.cut_after is not None and passed > self.cut_after:
                        # A reset, and no orderly end.
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    if self.stall_after is not None and passed > self.stall_after:
                        select.select([client], [], [], 30)
                        return
                    client.sendall(data)


@contextlib.contextmanager
def proxy(target: int) -> Iterator[Proxy]:
    """A `Proxy` before what listens on the port ``target``."""
    server = socket.create_server(("127.0.0.1", 0), backlog=128)
    found = Proxy(server, target)
    thread = threading.Thread(target=found.serve, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        found.close()
        thread.join(30)
