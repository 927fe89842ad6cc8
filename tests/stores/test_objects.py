"""Stores in object storage: S3 on moto's server, a directory and memory through the same library."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from ortcache.stores.objects import ObjectStore

from ..support.oracles import need
from .conformance import Conformance
from .sharing import Sharing


@pytest.fixture(autouse=True)
def library() -> None:
    need("obstore", find_spec("obstore"))


def options(s3: str) -> dict[str, str]:
    """What finds the tests' S3 server, which takes any credentials."""
    return {"endpoint": s3, "region": "us-east-1", "access_key_id": "id", "secret_access_key": "a-secret"}


class TestS3(Sharing):
    """What every store must do, in S3."""

    put_copies = 3
    get_copies = 1

    @pytest.fixture
    def store(self, s3: str, bucket: str) -> ObjectStore:
        return ObjectStore(f"s3://{bucket}/some/prefix", timeout=30, **options(s3))

    @pytest.fixture
    def opening(self, s3: str, bucket: str) -> str:
        return (
            "from ortcache.stores.objects import ObjectStore\n"
            f"store = ObjectStore('s3://{bucket}/some/prefix', timeout=30, **{options(s3)})"
        )


class TestLocal(Sharing):
    """What every store must do, in a directory."""

    put_copies = 3
    get_copies = 1

    @pytest.fixture
    def opening(self, tmp_path: Path) -> str:
        return f"from ortcache.stores.objects import ObjectStore\nstore = ObjectStore('file://{tmp_path}')"

    @pytest.fixture
    def store(self, tmp_path: Path) -> ObjectStore:
        return ObjectStore(f"file://{tmp_path}")


class TestMemory(Conformance):
    """What every store must do, in memory."""

    @pytest.fixture
    def store(self) -> ObjectStore:
        return ObjectStore("memory:///")
