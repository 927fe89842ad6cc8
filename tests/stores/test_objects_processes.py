"""Object stores and the life of a process: forks, the end after failures; and listings of more than a page."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from ortcache.stores.objects import ObjectStore

from ..support.faulty_servers import answering, silent
from ..support.oracles import need
from ..support.process import run_python


@pytest.fixture(autouse=True)
def library() -> None:
    need("obstore", find_spec("obstore"))


def test_a_listing_goes_over_many_pages_and_leaves_out_what_is_no_value(s3: str, bucket: str) -> None:
    store, below = (
        ObjectStore(f"s3://{bucket}/{prefix}", endpoint=s3, region="r", access_key_id="i", secret_access_key="s")
        for prefix in ("prefix", "prefix/deeper")
    )
    for number in range(1100):
        store._objects.put(f"key{number}", b"x" * (number % 3))
    below.put("another-stores", b"x")
    for name in ("no key", "con", "a^b"):
        store._objects.put(name, b"x")
    listed = list(store.keys())
    assert (set(listed), len(listed)) == ({f"key{number}" for number in range(1100)}, 1100)
    assert {entry.key: entry.size for entry in store.entries()} == {f"key{n}": n % 3 for n in range(1100)}
    assert list(below.keys()) == ["another-stores"]


def test_a_forked_child_is_told_what_it_cannot_do(tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    told = run_python(
        """
        import os, sys
        from ortcache.errors import StoreError
        from ortcache.stores.objects import ObjectStore
        store = ObjectStore(f"file://{sys.argv[1]}", timeout=5)
        child = os.fork()  # before the first use it may fork
        if child == 0:
            store.put("child", b"x")
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert store.get("child") == b"x"
        child = os.fork()
        if child == 0:
            try:
                store.get("child")
            except StoreError as error:
                print(error, flush=True)
            os._exit(0)
        os.waitpid(child, 0)
        """,
        tmp_path,
    )
    assert 'a forked child cannot use obstore after its parent did. Start children by "spawn"' in told


def test_a_process_that_ends_after_timeouts_ends_well() -> None:
    with silent() as port:
        told = run_python(
            """
            import sys
            from ortcache.errors import StoreTimeoutError
            from ortcache.stores.objects import ObjectStore
            store = ObjectStore("s3://bucket/x", endpoint=sys.argv[1], region="r", access_key_id="i",
                                secret_access_key="s", timeout=0.05)
            count = 0
            for _ in range(20):
                for call in (lambda: store.get("key"), lambda: store.put("key", bytes(300_000))):
                    try:
                        call()
                    except StoreTimeoutError:
                        count += 1
            print(count)
            """,
            f"http://127.0.0.1:{port}",
        )
    assert told == "40\n"


@pytest.mark.parametrize(
    "call", ["store.get('key')", "store.put('key', bytes(300_000))", "store.put('key', bytes(9 << 20))"]
)
def test_a_process_that_ends_right_after_a_failure_ends_well(call: str) -> None:
    with answering(lambda method, path: (403, b"no")) as endpoint:
        for _ in range(10):
            run_python(
                f"""
                import sys
                from ortcache.errors import StoreError
                from ortcache.stores.objects import ObjectStore
                store = ObjectStore("s3://bucket/x", endpoint=sys.argv[1], region="r", access_key_id="i",
                                    secret_access_key="s")
                try:
                    {call}
                except StoreError:
                    pass
                """,
                endpoint,
            )
