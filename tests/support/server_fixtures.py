"""Servers as fixtures: each is started once, when the first test wants it."""

from __future__ import annotations

import secrets
from collections.abc import Iterator

import pytest

from .servers import Redis, make_bucket, redis_server, s3_server

__all__ = ["bucket", "redis_url", "s3", "shared_redis"]


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server."""
    with s3_server() as endpoint:
        yield endpoint


@pytest.fixture
def bucket(s3: str) -> str:
    """The name of a fresh bucket."""
    name = f"bucket-{secrets.token_hex(4)}"
    make_bucket(s3, name)
    return name


@pytest.fixture(scope="session")
def shared_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Redis]:
    """A redis-server that no test stops."""
    with redis_server(tmp_path_factory.mktemp("redis")) as server:
        yield server


@pytest.fixture
def redis_url(shared_redis: Redis) -> str:
    """The URL of a fresh part of it."""
    return f"{shared_redis.url}/0?prefix=t{secrets.token_hex(4)}:"
