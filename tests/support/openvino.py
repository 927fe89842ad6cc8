"""Sessions on the real OpenVINO execution providers, for child processes: one comes with ONNX Runtime, one is a plugin.

``python -m tests.support.openvino FORM MODEL DIRECTORY`` makes one with the provider's own directory, and
``… FORM MODEL - STORE`` makes one over a store. Each prints a line of JSON.
"""

from __future__ import annotations

import importlib
import json
import logging
import sys
import time
from pathlib import Path
from typing import Any

import ortcache as oc
from ortcache import bridge
from ortcache.bridge import options_for
from ortcache.registration import api_base
from ortcache.scope import Scope
from ortcache.stores.url import open_store

__all__ = ["EP", "make_session", "prepare", "scope_of"]

EP = "OpenVINOExecutionProvider"


def prepare(form: str) -> Any:
    """Load what the form needs; gives the plugin's device, where it is one."""
    ort = importlib.import_module("onnxruntime")
    if form == "bundled":
        return None
    from ortcache.host.library import compiled_plugin

    from .intel_cpu import pretend

    pretend()
    path = importlib.import_module("onnxruntime_ep_openvino").get_library_path()
    if form == "own":  # this package's sessions in place of the official module's
        runtime = oc.load()
        return runtime, next(device for device in runtime.register_ep_library("openvino", path) if device.ep_name == EP)
    library = compiled_plugin(path, api_base)
    ort.register_execution_provider_library("openvino", library.path)
    library.loaded()
    device = next(device for device in ort.get_ep_devices() if device.ep_name == EP)
    return library, device


def make_session(form: str, prepared: Any, model: str, options: dict[str, str]) -> Any:
    """A session on the provider."""
    ort = importlib.import_module("onnxruntime")
    if form == "bundled":
        return ort.InferenceSession(model, providers=[(EP, {"device_type": "CPU", **options})])
    owner, device = prepared
    if form == "own":
        own = owner.session_options()
        own.append_ep([device], options)
        return owner.session(model, own)
    official = ort.SessionOptions()
    official.add_provider_for_devices([device], options)
    return ort.InferenceSession(model, sess_options=official)


def scope_of(model: str) -> Scope:
    ort = importlib.import_module("onnxruntime")
    return Scope.of(model=model, ort_version=ort.__version__, ep=EP)


def main(form: str, model: str, native: str, store: str = "", mode: str = "rw") -> None:
    prepared = prepare(form)
    said: dict[str, Any] = {}
    if native != "-":
        config = json.dumps({"CPU": {"CACHE_DIR": native}})
        options = {"cache_dir": native} if form == "bundled" else {"load_config": config}
        start = time.perf_counter()
        session = make_session(form, prepared, model, options)
        said["seconds"] = time.perf_counter() - start
        said["files"] = sorted(path.name for path in Path(native).iterdir())
    else:
        scope = scope_of(model)
        opened = open_store(store)
        start = time.perf_counter()
        with bridge.directory(opened, "openvino", scope=scope, mode=mode) as directory:
            session = directory.session(
                lambda d: make_session(form, prepared, model, options_for(EP, d, form=_form(form)))
            )
            said["seconds"] = time.perf_counter() - start
            said["place"] = str(directory.path)
        said["whole"] = time.perf_counter() - start
        said["stats"] = directory.stats.as_dict()
        said["left"] = Path(said["place"]).parent.exists()
    said["sum"] = _run(form, session)
    print(json.dumps(said))


def _form(form: str) -> str:
    return "bundled" if form == "bundled" else "plugin"


def _run(form: str, session: Any) -> float:
    import numpy as np

    x = np.linspace(-1, 1, 3 * 48 * 320, dtype=np.float32).reshape(1, 3, 48, 320)
    name = next(iter(session.inputs)) if form == "own" else session.get_inputs()[0].name
    if form == "own" and not isinstance(name, str):
        name = name.name
    return float(np.square(session.run(None, {name: x})[0]).sum())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")
    main(*sys.argv[1:])
