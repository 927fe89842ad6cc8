"""What is wrong in what ``doctor`` gathered, and what to do about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["findings"]

_REINSTALL = "Reinstall it (`pip install --force-reinstall onnxruntime`), or name another with ORTCACHE_LIBRARY."
_REPORT = "Report it with this whole output."
_DO = {
    "find": "Install one with `pip install onnxruntime`, or name a file with ORTCACHE_LIBRARY or --library.",
    "load": _REINSTALL,
    "numpy": "Reinstall it: `pip install --force-reinstall numpy`.",
}


def findings(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Each with ``what``, ``do``, and ``fatal`` where no inference is possible because of it. The fatal ones first."""
    found = [*_stages(document["stages"]), *_packages(document), *_images(document["stages"])]
    return sorted(found, key=lambda f: not f["fatal"])


def _stages(stages: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    ran = (stages.get("inference") or {}).get("found")
    found = []
    for name, stage in stages.items():
        if "failed" in stage:
            where = f"the {name} stage {stage['failed']}" if stage.get("ended") else f"{name}: {stage['failed']}"
            found.append(_finding(where, _DO.get(name, _REPORT), fatal=not ran))
    if ran and not ran["equal"]:
        what = f"the inference gave {ran['output']} in place of {ran['expected']}"
        found.append(_finding(what, _REPORT, fatal=True))
    if not ran and not found:
        found.append(_finding("the inference was not reached", _REPORT, fatal=True))
    return found


def _packages(document: dict[str, Any]) -> list[dict[str, Any]]:
    flavours = document["onnxruntime_packages"]
    found = []
    if len(flavours) > 1:
        listed = ", ".join(f"{name} {version}" for name, version in flavours.items())
        found.append(
            _finding(
                f"several packages bring the module onnxruntime and overwrite each other's files: {listed}",
                f"Uninstall all of them (`pip uninstall {' '.join(flavours)}`), then install the one that you want.",
            )
        )
    stages = document["stages"]
    library = stages.get("find", {}).get("found") or {}
    says = (stages.get("load", {}).get("found") or {}).get("version")
    if len(flavours) == 1 and says and "package" in library.get("chosen", ""):
        name, version = next(iter(flavours.items()))
        if not version.startswith(says):
            found.append(_finding(f"the package {name} is {version}, but its library says {says}", _REINSTALL))
    return found


def _images(stages: dict[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """Another ONNX Runtime in a fresh process: preloaded, or pulled in by a start-up file."""
    images = stages.get("images", {}).get("found") or []
    chosen = Path((stages.get("find", {}).get("found") or {}).get("path", ""))
    others = [image for image in images if not _same(Path(image), chosen)]
    if not others:
        return []
    what = f"another ONNX Runtime is in every Python process: {', '.join(others)}"
    do = "What is registered in one is unknown to the other. Look at LD_PRELOAD and at .pth files that import it."
    return [_finding(what, do)]


def _same(a: Path, b: Path) -> bool:
    try:
        return a.samefile(b)
    except OSError:
        return a == b


def _finding(what: str, do: str, *, fatal: bool = False) -> dict[str, Any]:
    return {"what": what, "do": do, "fatal": fatal}
