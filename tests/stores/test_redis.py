"""Stores in Redis, on a real server."""

from __future__ import annotations

import secrets

import pytest

from ortcache.stores.redis import RedisStore

from ..support.servers import Redis
from .sharing import Sharing


@pytest.fixture
def prefix() -> str:
    return f"test-{secrets.token_hex(4)}:"


@pytest.fixture
def store(shared_redis: Redis, prefix: str) -> RedisStore:
    return RedisStore(shared_redis.url, prefix=prefix, timeout=30)


class TestRedis(Sharing):
    """What every store must do."""

    get_copies = 1

    @pytest.fixture
    def opening(self, shared_redis: Redis, prefix: str) -> str:
        return (
            "from ortcache.stores.redis import RedisStore\n"
            f"store = RedisStore({shared_redis.url!r}, prefix={prefix!r}, timeout=30)"
        )
