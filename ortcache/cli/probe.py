"""What ``doctor`` asks of a library, in a process of its own: a damaged library may end the process that loads it.

``python -m ortcache.cli.probe [LIBRARY]`` writes JSON lines: ``["begin", stage]`` before a stage, and after it
``["done", stage, what was found]`` or ``["failed", stage, why]``.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
from collections.abc import Callable
from typing import IO, Any

from .. import raw
from ..core.library import Choice, find_library, mapped_images
from ..core.loader import open_native
from ..core.native import Native
from ..core.status import describe
from ..errors import HostError

__all__: list[str] = []


def main() -> None:
    # What the library itself prints goes to stderr, so that it cannot get between the lines.
    report = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    probe = _Probe(report)
    choice = probe.stage("find", lambda: find_library(sys.argv[1] if len(sys.argv) > 1 else None), _choice)
    if choice is None:
        return
    native = probe.stage("load", lambda: open_native(sys.argv[1] if len(sys.argv) > 1 else None), _versions)
    images = probe.stage("images", mapped_images, lambda found: [os.fspath(path) for path in found])
    if native is None or images is None:
        return
    if probe.stage("numpy", lambda: importlib.import_module("numpy"), lambda numpy: numpy.__version__) is None:
        return
    wrappers = probe.stage("wrappers", _wrappers, lambda _: [])
    if wrappers is None:
        return
    make_runtime, infer = wrappers
    runtime = make_runtime(native)
    probe.stage("ep cache", lambda: _ep_cache(native))
    probe.stage("providers", runtime.providers)
    probe.stage("devices", runtime.ep_devices, lambda devices: [_device(device) for device in devices])
    probe.stage("inference", lambda: infer(runtime))


class _Probe:
    def __init__(self, report: IO[str]) -> None:
        self._report = report

    def stage(self, name: str, run: Callable[[], Any], found: Callable[[Any], Any] = lambda result: result) -> Any:
        """Run one stage and give its result; None where it failed."""
        self._write("begin", name)
        try:
            result = run()
            self._write("done", name, found(result))
        except Exception as error:
            self._write("failed", name, describe(error))
            return None
        return result

    def _write(self, *line: Any) -> None:
        print(json.dumps(line), file=self._report, flush=True)


def _wrappers() -> tuple[Any, Any]:
    # Not at the top: they need numpy.
    from ..api.runtime import Runtime
    from .sample import infer

    return Runtime, infer


def _ep_cache(native: Native) -> dict[str, Any]:
    """Who answers for EP cache callbacks here, and why."""
    from ..backend import backend_of
    from ..host.attach import MINIMUM_HOST_VERSION
    from ..host.shim import check_platform

    backend = backend_of(native)
    try:
        covered, why = True, f"the host covers this platform ({check_platform()})"
    except HostError as error:
        covered, why = False, str(error)
    if backend == "native":
        why = "this library has the proposal's functions itself"
    elif backend is None:
        why = f"the host needs ONNX Runtime 1.{MINIMUM_HOST_VERSION} or later"
    elif covered:
        why = f"no release has the proposal's functions, and {why}"
    return {"backend": backend, "platform_covered": covered, "why": why}


def _choice(choice: Choice) -> dict[str, Any]:
    return {"path": os.fspath(choice.path), "chosen": choice.source, "tried": choice.tried}


def _versions(native: Native) -> dict[str, Any]:
    return {
        "version": native.version,
        "api_version": native.api_version,
        "library_api_version": native.library_api_version,
    }


def _device(device: Any) -> str:
    hardware = device.device
    kinds = {int(kind): kind.name.rpartition("_")[2] for kind in raw.OrtHardwareDeviceType}
    kind = kinds.get(hardware.type, f"hardware of type {hardware.type}")
    version = device.ep_metadata.get("version")
    return f"{device.ep_name}{f' {version}' if version else ''} on {hardware.vendor} {kind}".replace("  ", " ")


if __name__ == "__main__":
    main()
