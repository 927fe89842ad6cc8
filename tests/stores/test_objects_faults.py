"""An object store that is away, hangs, refuses or lacks its bucket: a StoreError that says what to do, never a miss."""

from __future__ import annotations

import os
import threading
import time
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlsplit

import pytest

from ortcache.errors import StoreError, StoreTimeoutError
from ortcache.stores.objects import ObjectStore

from ..support.faulty_servers import answering, proxy, silent
from ..support.oracles import need
from ..support.process import run_python
from ..support.servers import free_port, make_bucket, s3_server
from .timing import in_time, sixteen_threads_wait_no_longer_than_one

SECRET = "geheim/mit+zeichen"
LARGE = 9 << 20  # bytes: uploaded in parts


@pytest.fixture(autouse=True)
def library() -> None:
    need("obstore", find_spec("obstore"))


def at(endpoint: str, bucket: str = "bucket", timeout: float = 10, **more: str) -> ObjectStore:
    return ObjectStore(
        f"s3://{bucket}/prefix", endpoint=endpoint, region="us-east-1", access_key_id="id", secret_access_key=SECRET,
        timeout=timeout, **more,
    )  # fmt: skip


def every_call(store: ObjectStore) -> list[tuple[str, Any]]:
    return [
        ("get", lambda: store.get("key")),
        ("put", lambda: store.put("key", b"x")),
        ("large put", lambda: store.put("key", bytes(LARGE))),
        ("delete", lambda: store.delete("key")),
        ("keys", lambda: list(store.keys())),
        ("entries", lambda: list(store.entries())),
    ]


def test_one_that_is_down_is_an_error_of_every_call_and_of_no_making() -> None:
    store = at(f"http://127.0.0.1:{free_port()}", timeout=2)
    for name, call in every_call(store):
        with in_time(2, name), pytest.raises(StoreError, match="Is the service up") as raised:
            call()
        assert not isinstance(raised.value, TimeoutError), name
        assert "Debug source" not in str(raised.value)
        assert raised.value.__cause__ is not None


def test_one_that_accepts_and_says_nothing_is_a_timeout() -> None:
    with silent() as port:
        store = at(f"http://127.0.0.1:{port}", timeout=0.4)
        for name, call in every_call(store):
            with in_time(0.4, name), pytest.raises(StoreTimeoutError, match=r"no answer to the .* in 0\.4 s"):
                call()


def test_threads_wait_no_longer_than_one() -> None:
    with silent() as port:
        sixteen_threads_wait_no_longer_than_one(at(f"http://127.0.0.1:{port}", timeout=0.5))


def test_one_that_fails_and_fails_is_not_asked_for_longer_than_the_timeout() -> None:
    asked = []

    def answer(method: str, path: str) -> tuple[int, bytes]:
        asked.append(method)
        return 500, b"<Error><Code>InternalError</Code></Error>"

    with answering(answer) as endpoint:
        with in_time(1, "get"), pytest.raises(StoreError, match="500 Internal Server Error"):
            at(endpoint, timeout=1).get("key")
    assert 1 < len(asked) <= 3  # a passing failure is tried again, but not for ever


@pytest.mark.parametrize(
    ("status", "code"),
    [(403, "AccessDenied"), (403, "InvalidAccessKeyId"), (403, "SignatureDoesNotMatch"), (401, "No")],
)
def test_wrong_credentials_are_told_and_not_shown(status: int, code: str) -> None:
    body = f"<Error><Code>{code}</Code><Message>{SECRET} is wrong</Message></Error>".encode()
    with answering(lambda method, path: (status, body)) as endpoint:
        store = at(endpoint)
        for _, call in every_call(store):
            with pytest.raises(StoreError, match=r"refuses the credentials.*AWS_ACCESS_KEY_ID") as raised:
                call()
            error: BaseException | None = raised.value
            while error is not None:
                assert SECRET not in str(error)
                error = error.__cause__
        assert SECRET not in repr(store)


def test_a_bucket_that_is_not_there_is_an_error_and_no_miss(s3: str) -> None:
    store = at(s3, "nobody-made-this-one")
    for name, call in every_call(store):
        with pytest.raises(StoreError, match="There is no such bucket: make it") as raised:
            call()
        assert not isinstance(raised.value, TimeoutError), name


def test_without_any_credentials_it_says_where_they_are_looked_for(s3: str, bucket: str) -> None:
    with answering(lambda method, path: (403, b"no metadata for you")) as metadata:
        told = run_python(
            """
            import os, sys
            from ortcache.errors import StoreError
            from ortcache.stores.objects import ObjectStore
            for name in [name for name in os.environ if name.startswith("AWS_")]:
                del os.environ[name]
            endpoint, bucket, metadata = sys.argv[1:]
            store = ObjectStore(f"s3://{bucket}/x", endpoint=endpoint, region="us-east-1", metadata_endpoint=metadata)
            try:
                store.get("key")
            except StoreError as error:
                print(error)
            """,
            s3,
            bucket,
            metadata,
        )
    assert "set them in the environment (AWS_ACCESS_KEY_ID" in told


def test_credentials_come_from_the_environment(s3: str, bucket: str) -> None:
    run_python(
        """
        import sys
        from ortcache.stores.objects import ObjectStore
        store = ObjectStore(f"s3://{sys.argv[1]}/x")
        store.put("key", b"x")
        assert store.get("key") == b"x"
        """,
        bucket,
        AWS_ACCESS_KEY_ID="id",
        AWS_SECRET_ACCESS_KEY="a-secret",
        AWS_ENDPOINT_URL=s3,
        AWS_REGION="us-east-1",
    )


@pytest.mark.parametrize("size", [100, LARGE])
def test_one_that_is_killed_while_values_are_put_leaves_none_torn(size: int) -> None:
    errors: list[StoreError] = []
    with s3_server() as endpoint:
        make_bucket(endpoint, "bucket")
        store = at(endpoint, timeout=3)
        done = threading.Event()

        def put() -> None:
            turn = 0
            while not done.is_set() and not errors:
                turn += 1
                try:
                    store.put("key", bytes([turn % 251]) * size)
                except StoreError as error:
                    errors.append(error)

        threads = [threading.Thread(target=put) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            found = store.get("key")
            assert found is None or (len(found), found.count(found[:1])) == (size, size)
    for thread in threads:
        thread.join(60)
    assert errors


@pytest.mark.parametrize("cut_after", [0, 1, 300, 100_000, 3 << 20])
def test_a_connection_that_breaks_in_the_middle_is_an_error_and_no_half_value(
    s3: str, bucket: str, cut_after: int
) -> None:
    value = bytes(range(256)) * (LARGE // 256)
    at(s3, bucket).put("key", value)
    port = urlsplit(s3).port
    assert port is not None
    with proxy(port) as between:
        store = at(f"http://127.0.0.1:{between.port}", bucket, timeout=3)
        assert store.get("key") == value
        between.cut_after = cut_after
        for _ in range(2):
            with pytest.raises(StoreError):
                at(f"http://127.0.0.1:{between.port}", bucket, timeout=3).get("key")
        between.cut_after = None
        assert store.get("key") == value


def test_an_answer_that_stops_in_the_middle_is_a_timeout(s3: str, bucket: str) -> None:
    at(s3, bucket).put("key", bytes(LARGE))
    port = urlsplit(s3).port
    assert port is not None
    with proxy(port) as between:
        between.stall_after = 1000
        store = at(f"http://127.0.0.1:{between.port}", bucket, timeout=0.5)
        with in_time(0.5, "get"), pytest.raises(StoreTimeoutError):
            store.get("key")


def test_an_upload_that_is_not_taken_is_given_up_and_holds_nothing(s3: str, bucket: str) -> None:
    def answer(method: str, path: str) -> tuple[int, bytes]:
        if method == "PUT":
            time.sleep(3)
        return 404, b""

    value = bytearray(200_000)
    with answering(answer) as endpoint:
        view = memoryview(value)
        with in_time(0.4, "put"), pytest.raises(StoreTimeoutError):
            at(endpoint, timeout=0.4).put("key", view)
        view.release()  # fails where somebody still looks at it
        value.extend(b"x")


def test_a_large_value_needs_no_more_time_than_its_megabytes_have(s3: str, bucket: str) -> None:
    store, value = at(s3, bucket, timeout=1.5), os.urandom(1 << 20) * 100
    store.put("key", value)
    assert store.get("key") == value
    (entry,) = store.entries()
    assert entry.size == len(value)
