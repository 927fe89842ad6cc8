"""The real OpenVINO execution providers over stores: each run is a process of its own, and the disk is empty."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ortcache import bridge
from ortcache.scope import Scope
from ortcache.stores.url import open_store

from ..support.installed import ocr_model
from ..support.oracles import ROOT, need
from ..support.servers import free_port, make_bucket, redis_server, s3_server

EP = "OpenVINOExecutionProvider"
FORMS = ("plugin", "own", "bundled")


@pytest.fixture(scope="module")
def model() -> str:
    """Text recognition of an OCR package, 11 MB."""
    return str(ocr_model())


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The URL of a store of each kind that the network brings."""
    with redis_server(tmp_path_factory.mktemp("redis")) as redis, s3_server() as endpoint:
        make_bucket(endpoint, "bucket")
        secrets = "access_key_id=test&secret_access_key=test&region=us-east-1"
        yield {"redis": redis.url, "s3": f"s3://bucket/caches?endpoint={endpoint}&{secrets}"}


def python_for(form: str) -> str:
    if form == "bundled":
        python = os.environ.get("ORTCACHE_TEST_OPENVINO")
        need("openvino-bundled", python)
        return str(python)
    need("openvino", importlib.util.find_spec("onnxruntime_ep_openvino"))
    need("linux", sys.platform == "linux")
    return sys.executable


def run(form: str, tmp_path: Path, *arguments: str, status: int = 0) -> tuple[dict[str, Any], str]:
    """One process; gives what it said, and its log. Nothing may be left where it ran, or in the temporary folder."""
    python = python_for(form)
    here, temporary = tmp_path / "here", tmp_path / "temporary"
    for folder in (here, temporary):
        folder.mkdir(exist_ok=True)
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    done = subprocess.run(
        [python, "-m", "tests.support.openvino", form, *arguments],
        cwd=here,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == status, done.stderr
    assert list(here.iterdir()) == []
    # ONNX Runtime itself leaves a file with a dot in front in the temporary folder.
    assert [path.name for path in temporary.iterdir() if not path.name.startswith(".")] == []
    said = json.loads(done.stdout) if status == 0 else {}
    assert not said.get("left")
    return said, done.stderr + done.stdout


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["directory", "sqlite", "redis", "s3"])
def test_a_new_process_on_an_empty_disk_starts_warm(
    form: str, kind: str, model: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    python_for(form)
    place = {"directory": str(tmp_path / "store"), "sqlite": f"sqlite:///{tmp_path / 'store.db'}"}.get(kind)
    if place is None:
        mark = "&" if kind == "s3" else "?"
        place = f"{request.getfixturevalue('servers')[kind]}{mark}namespace={form}"
    cold, told = run(form, tmp_path, model, "-", place)
    assert "the provider builds now" in told
    assert (cold["stats"]["misses"], cold["stats"]["saved_files"]) == (1, 1)
    assert cold["stats"]["saved_bytes"] > 10_000_000
    warm, told = run(form, tmp_path, model, "-", place)
    assert (warm["stats"]["hits"], warm["stats"]["misses"], warm["stats"]["saved_files"]) == (1, 0, 0)
    assert warm["stats"]["restored_bytes"] > 10_000_000 and warm["stats"]["failed"] == 0
    assert warm["sum"] == cold["sum"]
    # The provider in the wheel cannot load what it wrote, as the wheel lacks the library that reads it: it builds each
    # time, with a directory of its own as with ours, and we say so.
    assert warm["stats"]["rewritten_files"] == (form == "bundled")
    assert ("it did not use it" in told) == (form == "bundled")


@pytest.mark.parametrize("form", FORMS)
def test_an_entry_that_the_provider_cannot_use_is_replaced(form: str, model: str, tmp_path: Path) -> None:
    python_for(form)
    place = str(tmp_path / "store")
    cold, _ = run(form, tmp_path, model, "-", place)
    store = open_store(place)
    key = next(key for key in store.keys() if ".directory." in key)  # noqa: SIM118
    record = next(store.get(key) for key in store.keys() if key.startswith("scopes."))  # noqa: SIM118
    assert record is not None
    scope = Scope(json.loads(record)["parts"])
    good = store.get(key)
    with bridge.directory(store, "openvino", scope=scope, root=tmp_path) as d:
        assert d.path is not None
        blob = next(d.path.iterdir())
        blob.write_bytes(blob.read_bytes()[:200] + b"not what it was")
    assert store.get(key) != good
    again, _ = run(form, tmp_path, model, "-", place)
    assert again["stats"]["hits"] + again["stats"]["misses"] == 1 and again["stats"]["saved_files"] == 1
    assert again["sum"] == cold["sum"]
    warm, _ = run(form, tmp_path, model, "-", place)
    assert (warm["stats"]["hits"], warm["stats"]["saved_files"], warm["sum"]) == (1, 0, cold["sum"])


def test_a_cache_option_that_the_provider_does_not_know_is_an_error(model: str, tmp_path: Path) -> None:
    """The official module goes on with the CPU alone."""
    _, told = run("bundled", tmp_path, model, "-", str(tmp_path / "store"), "no_such_option", status=1)
    assert f"EpCacheError: {EP} is not among the providers of the session, which are CPUExecutionProvider" in told
    assert "ONNX Runtime 1.2" in told


def test_a_dead_store_breaks_no_session(model: str, tmp_path: Path) -> None:
    need("redis", importlib.util.find_spec("redis"))
    said, told = run("plugin", tmp_path, model, "-", f"redis://127.0.0.1:{free_port()}?timeout=0.2")
    assert said["stats"]["failed"] >= 1 and said["stats"]["misses"] == 1 and said["stats"]["saved_files"] == 0
    assert "the run goes on without" in told
