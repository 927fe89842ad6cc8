"""A vendor's compiled plugin EP, with the host between it and the official module."""

from __future__ import annotations

import importlib.util

from ..support.official import official_python
from ..support.oracles import need


def test_the_openvino_plugin_runs_a_model_and_is_taken_out_again() -> None:
    need("openvino", importlib.util.find_spec("onnxruntime_ep_openvino"))
    code = """
import onnxruntime_ep_openvino as openvino
from tests.support.intel_cpu import pretend
pretend()
devices = interop.register_ep_library("openvino", openvino.get_library_path())
device = next(device for device in devices if device.ep_name == "OpenVINOExecutionProvider")
options = options_for([device], Recorder())
session = interop.session(MODEL, options)
assert "OpenVINOExecutionProvider" in session.get_providers() and right(session)
# It knows nothing of the callbacks: a strict session says so.
assert interop.ep_cache_support(session) == {"OpenVINOExecutionProvider": oc.CacheSupport.NONE}
error = raised(oc.EpCacheError, interop.session, MODEL, options, strict=True)
assert "OpenVINOExecutionProvider does not read or write" in str(error)
del error, session, options
gc.collect()
interop.unregister_ep_library("openvino")
assert [device.ep_name for device in ort.get_ep_devices()] == ["CPUExecutionProvider"]
"""
    official_python(code, quiet=False)  # it may say on stderr what it makes of this machine
