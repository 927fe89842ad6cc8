"""Sessions of OpenVINO's providers, started warm from a store and from a directory of their own.

Each start is a process of its own; what is timed is the making of the session, and with a store all that comes before
it: opening the directory, reading the entry, writing the files. The starts of all stores and of the own directory
alternate. Needs the plugin (``onnxruntime-ep-openvino``) and the OCR models; a start of the provider that comes with
ONNX Runtime is timed where ORTCACHE_TEST_OPENVINO names a Python that has it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ..support.installed import find_ocr_model
from ..support.servers import make_bucket, redis_server, s3_server
from .measure import Row, child

__all__ = ["rows"]

_ROUNDS = 15
_GOAL = 1.15  # of a warm start over a local store to one from the provider's own directory
_CODE = "import sys; from tests.support.openvino import main; main(*sys.argv[1:])"


def rows() -> list[Row]:
    model = find_ocr_model()
    forms = {}
    if importlib.util.find_spec("onnxruntime_ep_openvino"):
        forms["plugin"] = sys.executable
    if os.environ.get("ORTCACHE_TEST_OPENVINO"):
        forms["bundled"] = os.environ["ORTCACHE_TEST_OPENVINO"]
    if model is None or not forms:
        print("bridge: neither OpenVINO's provider nor the OCR models are installed", file=sys.stderr)
        return []
    found = []
    for form, python in forms.items():
        with tempfile.TemporaryDirectory() as folder, _stores(Path(folder)) as stores:
            found += _measure(form, python, model, Path(folder) / "own", stores)
    return found


def _measure(form: str, python: str, model: str, own: Path, stores: dict[str, str]) -> list[Row]:
    own.mkdir()
    starts = {"its own directory": [form, model, str(own)]}
    starts |= {name: [form, model, "-", url] for name, url in stores.items()}

    def seconds(name: str) -> float:
        return float(json.loads(child(_CODE, *starts[name], python=python))["seconds"])

    cold = {name: seconds(name) for name in starts}
    warm: dict[str, list[float]] = {name: [] for name in starts}
    names = list(starts)
    for turn in range(_ROUNDS):
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            warm[name].append(seconds(name))
    theirs = warm["its own directory"]
    found = []
    for name in names:
        median = statistics.median(warm[name])
        said = f"{median * 1e3:.0f} ms"
        found.append(Row(f"{form} EP, {name}: warm to cold", said, f"{cold[name] * 1e3:.0f} ms", median / cold[name]))
        if name in stores:
            ratio = statistics.median(a / b for a, b in zip(warm[name], theirs, strict=True))
            goal = _GOAL if form == "plugin" and name in ("directory", "SQLite") else None
            native = f"{statistics.median(theirs) * 1e3:.0f} ms"
            found.append(Row(f"{form} EP, {name}: warm, to its own directory", said, native, ratio, goal))
    return found


@contextlib.contextmanager
def _stores(folder: Path) -> Iterator[dict[str, str]]:
    """URLs by kind; those of servers where these can be started."""
    stores = {
        "directory": str(folder / "store"),
        "directory, not verified": f"file://{folder / 'plain'}?verify=0",
        "SQLite": f"sqlite:///{folder / 'store.db'}",
        "SQLite, not verified": f"sqlite:///{folder / 'plain.db'}?verify=0",
    }
    with contextlib.ExitStack() as stack:
        redis = stack.enter_context(redis_server(folder))
        endpoint = stack.enter_context(s3_server())
        make_bucket(endpoint, "bucket")
        stores["Redis"] = redis.url
        secrets = "access_key_id=test&secret_access_key=test&region=us-east-1"
        stores["S3"] = f"s3://bucket/caches?endpoint={endpoint}&{secrets}"
        yield stores
