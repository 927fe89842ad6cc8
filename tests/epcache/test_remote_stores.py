"""Sessions whose cache is far away: cold here, warm in another process, and well without it."""

from __future__ import annotations

import logging
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ortcache.runtime import Runtime
from ortcache.stores.url import open_store

from ..support.cache_eps import EXPECTED, FEEDS, MODEL, cached_session, outcomes
from ..support.ep_models import many_muls
from ..support.faulty_servers import answering, silent
from ..support.oracles import need
from ..support.process import run_python
from ..support.servers import Redis, free_port, redis_server

#: A session of one Mul over the store; prints what it counted.
_SESSION = """
import json, sys
from ortcache.ep import MulEp
from tests.support.backends import open_runtime
from tests.support.cache_eps import EXPECTED, FEEDS, MODEL
rt = open_runtime()
with rt.session_options(ep_cache=sys.argv[1]) as options:
    options.append_ep(rt.register_ep(MulEp))
    session = rt.session(MODEL, options)
with session:
    assert (session.run(FEEDS)[0] == EXPECTED).all()
    print(json.dumps(session.ep_cache_stats().as_dict()))
"""


@pytest.fixture(params=["redis", "s3"])
def url(request: pytest.FixtureRequest) -> str:
    if request.param == "redis":
        return str(request.getfixturevalue("redis_url"))
    endpoint, bucket = request.getfixturevalue("s3"), request.getfixturevalue("bucket")
    return f"s3://{bucket}/ep-cache?endpoint={endpoint}&region=us-east-1&access_key_id=i&secret_access_key=s"


def test_cold_here_and_warm_in_another_process(rt: Runtime, mul: Any, url: str) -> None:
    with cached_session(rt, mul, url) as session:
        np.testing.assert_array_equal(session.run(FEEDS)[0], EXPECTED)
        assert outcomes() == {"miss": 1, "built": 1, "written": 1}
    with cached_session(rt, mul, open_store(url)) as session:
        assert (outcomes(), session.ep_cache_stats().hits) == ({"hit": 1}, 1)
    told = run_python(_SESSION, url)
    assert '"hits": 1, "misses": 0, "read_errors": 0' in told


def test_a_damaged_value_far_away_is_a_miss_and_built_again(rt: Runtime, mul: Any, url: str) -> None:
    with cached_session(rt, mul, url):
        pass
    raw = open_store(url, verify=False)
    (key,) = raw.keys()
    raw.put(key, (raw.get(key) or b"")[:-1])
    with cached_session(rt, mul, url):
        assert outcomes() == {"miss": 1, "built": 1, "written": 1}
    with cached_session(rt, mul, url):
        assert outcomes() == {"hit": 1}


def warnings_of_ours(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records
            if record.name.startswith("ortcache.") and record.levelno >= logging.WARNING]  # fmt: skip


@pytest.mark.parametrize("kind", ["redis", "s3"])
def test_with_the_server_down_the_session_works_with_one_warning(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    port = free_port()
    url = f"redis://127.0.0.1:{port}" if kind == "redis" else _s3_at(f"http://127.0.0.1:{port}")
    with cached_session(rt, mul, url, many_muls(3)) as session:
        stats = session.ep_cache_stats()
    assert (stats.hits, stats.misses, stats.read_errors, stats.writes, stats.write_errors) == (0, 0, 3, 0, 3)
    assert stats.timeouts == 0
    (warning,) = warnings_of_ours(caplog)
    assert "failed, and is tried again in 5 s" in warning


@pytest.mark.parametrize("kind", ["redis", "s3"])
def test_with_a_server_that_hangs_the_session_waits_once(
    rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture, kind: str
) -> None:
    with silent() as port:
        url = f"redis://127.0.0.1:{port}?" if kind == "redis" else f"{_s3_at(f'http://127.0.0.1:{port}')}&"
        begun = time.monotonic()
        with cached_session(rt, mul, f"{url}timeout=0.5", many_muls(3)) as session:
            assert time.monotonic() - begun < 1.5 * 0.5 + 1  # and what a session takes on a busy machine
            stats = session.ep_cache_stats()
    assert (stats.hits, stats.misses, stats.read_errors, stats.write_errors, stats.timeouts) == (0, 0, 3, 3, 6)
    assert len(warnings_of_ours(caplog)) == 1


def test_with_wrong_credentials_the_session_works(rt: Runtime, mul: Any, caplog: pytest.LogCaptureFixture) -> None:
    with answering(lambda method, path: (403, b"<Error><Code>AccessDenied</Code></Error>")) as endpoint:
        with cached_session(rt, mul, _s3_at(endpoint), many_muls(3)) as session:
            stats = session.ep_cache_stats()
    assert (stats.read_errors, stats.write_errors, stats.timeouts) == (3, 3, 0)
    (warning,) = warnings_of_ours(caplog)
    assert "refuses the credentials" in warning


def test_a_server_that_comes_back_is_used_again(rt: Runtime, mul: Any, tmp_path: Path) -> None:
    need("linux", sys.platform == "linux")
    with redis_server(tmp_path) as server:
        with rt.session_options(ep_cache=f"{server.url}?retry_after=0.2") as options:
            options.append_ep(mul)
            counted = [_session(rt, options)]
            server.kill()
            counted.append(_session(rt, options))
            server.start()
            time.sleep(0.25)
            counted.append(_session(rt, options))
            counted.append(_session(rt, options))
    assert counted == [
        {"miss": 1, "built": 1, "written": 1},
        {"error": 1, "built": 1, "write_failed": 1},
        {"miss": 1, "built": 1, "written": 1},
        {"hit": 1},
    ]


def test_a_full_server_is_read_on_though_nothing_can_be_written(rt: Runtime, mul: Any, tmp_path: Path) -> None:
    with redis_server(tmp_path) as server:
        with rt.session_options(ep_cache=server.url) as options:
            options.append_ep(mul)
            assert _session(rt, options) == {"miss": 1, "built": 1, "written": 1}
            _fill(server)
            assert _session(rt, options, many_muls(2)) == {"miss": 2, "built": 2, "write_failed": 2}
            assert _session(rt, options) == {"hit": 1}


def _session(rt: Runtime, options: Any, model: Any = MODEL) -> dict[str, int]:
    with rt.session(model, options) as session:
        assert session.ep_cache_stats().reads > 0
        return outcomes()


def _fill(server: Redis) -> None:
    """Nothing more fits, however small."""
    import redis

    with redis.Redis.from_url(server.url) as client:
        client.config_set("maxmemory", 1)


def _s3_at(endpoint: str) -> str:
    return f"s3://bucket/x?endpoint={endpoint}&region=us-east-1&access_key_id=i&secret_access_key=s"
