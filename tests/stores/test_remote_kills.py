"""Writers to remote stores that are killed at any moment: whoever reads gets a whole value or none."""

from __future__ import annotations

import os
import signal
import sys
import time

import pytest

from ortcache.stores.url import open_store

from ..support.oracles import need
from ..support.process import start_python

#: How many writers are killed. Stress runs set more.
KILLS = 100 if "ORTCACHE_STRESS" in os.environ else 6

#: Puts values of one letter each, small ones and such as go in parts, over and over, and says when it begins.
_WRITER = """
import sys
from ortcache.stores.url import open_store
store = open_store(sys.argv[1], verify=False)
print("begun", flush=True)
turn = 0
while True:
    turn += 1
    store.put("large", bytes([97 + turn % 26]) * (9 * 2**20 + turn % 7))
    store.put("small", bytes([97 + turn % 26]) * (1000 + turn % 7))
"""


@pytest.fixture(params=["redis", "s3"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("redis_url"))
    endpoint, bucket = request.getfixturevalue("s3"), request.getfixturevalue("bucket")
    return f"s3://{bucket}/p?endpoint={endpoint}&region=us-east-1&access_key_id=i&secret_access_key=s&timeout=20"


@pytest.mark.timeout(900)
def test_a_writer_that_is_killed_leaves_whole_values(url: str) -> None:
    need("linux", sys.platform == "linux")
    store = open_store(url, verify=False)
    found = 0
    for turn in range(KILLS):
        writer = start_python(_WRITER, url)
        try:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "begun\n"
            time.sleep(0.02 + 0.017 * (turn % 10))
            writer.send_signal(signal.SIGKILL)
            assert writer.wait(30) == -signal.SIGKILL
        finally:
            writer.kill()
            writer.communicate()
        assert set(store.keys()) <= {"large", "small"}
        for key, size in (("large", 9 << 20), ("small", 1000)):
            value = store.get(key)
            found += value is not None
            assert value is None or (size <= len(value) < size + 7 and value.count(value[:1]) == len(value))
    assert found > 0
