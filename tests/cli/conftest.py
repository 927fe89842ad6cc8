"""Stores that the commands are tried on: each is empty, and named by a URL."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from pathlib import Path

import pytest

from ..support.servers import make_bucket, redis_server, s3_server
from .upkeep import fill


@pytest.fixture(scope="session")
def _redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server.url


@pytest.fixture(scope="session")
def _s3() -> Iterator[str]:
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture(params=["directory", "sqlite", "redis", "s3"])
def any_store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A store of each kind."""
    name = f"t{secrets.token_hex(6)}"
    match request.param:
        case "redis":
            return f"{request.getfixturevalue('_redis')}/0?prefix={name}:"
        case "s3":
            endpoint = request.getfixturevalue("_s3")
            make_bucket(endpoint, name)
            return f"s3://{name}?endpoint={endpoint}&region=us-east-1&access_key_id=id&secret_access_key=hunter2"
        case "sqlite":
            return f"sqlite:///{tmp_path}/store.db"
    return f"file://{tmp_path}/store"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The folder of a store with three entries."""
    fill(str(tmp_path / "store"), "a", "b", "c")
    return tmp_path / "store"
