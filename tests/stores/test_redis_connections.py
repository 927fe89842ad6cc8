"""How a store in Redis connects: sockets, TLS, threads; and what is no Redis."""

from __future__ import annotations

import gc
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from ortcache.errors import InputError, StoreError
from ortcache.stores.redis import PIECE, RedisStore

from ..support.oracles import need
from ..support.servers import Redis, free_port, redis_server
from .conformance import run_together


@pytest.fixture
def store(shared_redis: Redis) -> RedisStore:
    return RedisStore(shared_redis.url, prefix=f"test-{secrets.token_hex(4)}:", timeout=30)


def test_a_unix_socket_and_a_database_of_it(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    with (
        tempfile.TemporaryDirectory(prefix="oc") as short,
        redis_server(tmp_path, "--unixsocket", f"{short}/s") as server,
    ):
        with RedisStore(f"unix://{short}/s", db=3) as store:
            store.put("key", b"x")
        with RedisStore(f"{server.url}/3") as store:
            assert store.get("key") == b"x"


def test_tls_with_a_certificate_of_ones_own(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    port = free_port()
    tls = ("--tls-port", str(port), "--tls-cert-file", str(certificate), "--tls-key-file", str(key))
    with redis_server(tmp_path, *tls, "--tls-auth-clients", "no"):
        with RedisStore(f"rediss://127.0.0.1:{port}", ssl_ca_certs=str(certificate)) as store:
            store.put("key", bytes(PIECE + 1))
            assert store.get("key") == bytes(PIECE + 1)
        with RedisStore(f"rediss://127.0.0.1:{port}") as store:  # nobody whom the system trusts has signed it
            with pytest.raises(StoreError, match="certificate"):
                store.get("key")


def test_more_threads_than_a_pool_usually_has_connections(store: RedisStore) -> None:
    store.put("key", b"x")
    found: list[bytes | None] = []
    run_together([lambda: found.append(store.get("key"))] * 150)
    assert found == [b"x"] * 150


def test_a_closed_one_connects_again(store: RedisStore) -> None:
    store.put("key", b"x")
    store.close()
    store.close()
    assert store.get("key") == b"x"


def test_one_that_nobody_closed_leaves_no_connection(store: RedisStore, shared_redis: Redis) -> None:
    name = f"client-{secrets.token_hex(4)}"

    def connected() -> int:
        return sum(client["name"] == name for client in store._redis.client_list())

    for _ in range(3):
        another = RedisStore(shared_redis.url, client_name=name)
        another.put("key", b"x")
        circle: list[object] = [another]
        circle.append(circle)
        assert connected() == 1
        del another, circle
        gc.collect()
        deadline = time.monotonic() + 10
        while connected():  # the server learns of it a little later
            assert time.monotonic() < deadline
            time.sleep(0.01)


@pytest.mark.parametrize(
    "url",
    ["http://host", "redis:host", "redis://", "redis://host:port", "redis://host/name", "redis://h:1/0?timeout=1",
     "redis://h:0", "unix://", "redis://h#x", "host:6379", ""],
)  # fmt: skip
def test_what_is_no_redis_url_is_refused(url: str) -> None:
    with pytest.raises(InputError):
        RedisStore(url)


@pytest.mark.parametrize(
    "options", [{"timeout": 0}, {"timeout": -1}, {"timeout": "x"}, {"ttl": 0}, {"prefix": ""}, {"prefix": "a b"},
                {"prefix": "*"}, {"prefix": "x" * 101}, {"ttl": True}],
    ids=str,
)  # fmt: skip
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(InputError):
        RedisStore("redis://host", **options)


def test_its_repr_hides_the_password() -> None:
    assert repr(RedisStore("redis://me:secret@host:1/2")) == "RedisStore('redis://me:***@host:1/2', prefix='ortcache:')"


def test_without_the_library_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(StoreError, match=re.escape("pip install 'ortcache[redis]'")):
        RedisStore("redis://host")


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for 127.0.0.1, and its key."""
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    openssl = shutil.which("openssl")
    need("openssl", openssl)
    subprocess.run(
        [str(openssl), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days",
         "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key
