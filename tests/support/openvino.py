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
from typing import Any

import numpy as np

import ortcache as oc
from ortcache import bridge
from ortcache.bridge import options_for
from ortcache.interop import register_ep_library
from ortcache.scope import Scope
from ortcache.stores.url import open_store

from .intel_cpu import pretend

__all__ = ["EP", "make_session", "options_for_path", "prepare", "scope_of"]

EP = "OpenVINOExecutionProvider"


def prepare(form: str) -> Any:
    """Load what the form needs; gives the plugin's device, where it is one."""
    if form == "bundled":
        importlib.import_module("onnxruntime")
        return None
    pretend()
    path = importlib.import_module("onnxruntime_ep_openvino").get_library_path()
    if form == "own":  # this package's sessions in place of the official module's
        runtime = oc.load()
        return runtime, next(device for device in runtime.register_ep_library("openvino", path) if device.ep_name == EP)
    return None, next(device for device in register_ep_library("openvino", path) if device.ep_name == EP)


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


def main(form: str, model: str, native: str, store: str = "", option: str = "") -> None:
    """See the module's first lines; with the name of an option, that one is set in place of the provider's own."""
    prepared = prepare(form)
    said: dict[str, Any] = {}
    if native != "-":
        options = options_for_path(form, native)
        start = time.perf_counter()
        session = make_session(form, prepared, model, options)
        said["seconds"] = time.perf_counter() - start
    else:
        scope = scope_of(model)
        opened = open_store(store)
        start = time.perf_counter()
        with bridge.directory(opened, "openvino", scope=scope) as directory:

            def make(d: bridge.BridgedDirectory) -> Any:
                options = options_for(EP, d, form=_form(form), option=option or None)
                return make_session(form, prepared, model, options)

            session = directory.session(make)
            said["seconds"] = time.perf_counter() - start
        said["stats"] = directory.stats.as_dict()
        said["left"] = directory.path is not None and directory.path.parent.exists()
    said["sum"] = _run(form, session)
    print(json.dumps(said))


def options_for_path(form: str, path: str) -> dict[str, str]:
    """What a user without a bridge gives."""
    return {"cache_dir": path} if form == "bundled" else {"load_config": json.dumps({"CPU": {"CACHE_DIR": path}})}


def _form(form: str) -> str:
    return "bundled" if form == "bundled" else "plugin"


def _run(form: str, session: Any) -> float:
    """A number that any change of the output changes."""
    x = np.linspace(-1, 1, 3 * 48 * 320, dtype=np.float32).reshape(1, 3, 48, 320)
    inputs = session.inputs if form == "own" else session.get_inputs()
    return float(np.square(session.run(None, {inputs[0].name: x})[0]).sum())


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")
    main(*sys.argv[1:])
