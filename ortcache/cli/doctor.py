"""``ortcache doctor``: everything a bug report needs, and what to do where no inference is possible."""

from __future__ import annotations

import argparse
import os
import platform
import struct
import sys
from typing import Any

from .. import __version__, raw
from ..stores.url import STORE_VARIABLE
from . import findings
from .environment import shown_environment
from .installed import flavours, related, version_of
from .output import add_json, add_library, columns, show
from .probing import probe

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "doctor",
        help="say what is installed, which library is used and whether it runs",
        description="Everything a bug report needs. A store that is named is tried out: a value is written, read and "
        "deleted. Exit code 1 where no inference is possible, or the store does not work.",
    )
    parser.add_argument("--store", metavar="STORE", help=f"the store to try; else what {STORE_VARIABLE} names")
    add_library(parser)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from .cache_checks import cache_findings, cache_rows, check_caches  # what it needs, only it needs

    document: dict[str, Any] = {
        "ortcache": __version__,
        "generated_api_version": raw.GENERATED_API_VERSION,
        "headers_api_version": raw.HEADERS_API_VERSION,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "executable": sys.executable,
        "bits": struct.calcsize("P") * 8,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
        "environment": shown_environment(),
        "packages": {name: version_of(name) for name in ("numpy", "ml_dtypes")},
        "onnxruntime_packages": flavours(),
        "related_packages": related(),
        "stages": probe(args.library),
        "caches": check_caches(args.store),
    }
    document["findings"] = [*findings.findings(document), *cache_findings(document["caches"])]
    document["inference_possible"] = not any(f["fatal"] for f in document["findings"])
    show(args, document, _text(document, cache_rows(document["caches"])))
    store = document["caches"]["store"]
    return 0 if document["inference_possible"] and not (store and store["failed"]) else 1


def _text(d: dict[str, Any], about_caches: list[tuple[str, object]]) -> list[str]:
    stages = d["stages"]
    library = stages.get("find", {}).get("found") or {}
    versions = stages.get("load", {}).get("found") or {}
    rows: list[tuple[str, object]] = [
        ("ortcache", f"{d['ortcache']}, API versions up to {d['generated_api_version']}, "
                     f"headers of 1.{d['headers_api_version']}"),
        ("Python", f"{d['python']}, {d['bits']} bit, {d['executable']}"),
        ("platform", f"{d['platform']}, {d['machine']}, {d['cpus']} CPUs"),
        ("environment", _pairs(d["environment"], "=") or "no ORTCACHE_ variable is set"),
        ("packages", _pairs({name: version or "not installed" for name, version in d["packages"].items()})),
        ("onnxruntime", _pairs(d["onnxruntime_packages"]) or "not installed for this Python"),
    ]  # fmt: skip
    plugins = {name: version for name, version in d["related_packages"].items() if name.startswith("onnxruntime-ep-")}
    others = {name: version for name, version in d["related_packages"].items() if name not in plugins}
    rows += [("EP plugins", _pairs(plugins)), ("related", _pairs(others))]
    rows += [
        ("library", library.get("path", "none")),
        ("chosen", library.get("chosen", "")),
        *(("tried before", line) for line in library.get("tried", ())),
    ]
    if versions:
        used, its = versions["api_version"], versions["library_api_version"]
        rows.append(("version", f"{versions['version']}, API version {used} in use (it has up to {its})"))
    for name, stage in stages.items():
        if name not in ("find", "load", "numpy", "wrappers"):
            rows.append((_LABELS.get(name, name), _stage(name, stage)))
    rows += about_caches
    lines = columns([row for row in rows if row[1] != ""])
    for finding in d["findings"]:
        lines += ["", f"{'PROBLEM' if finding['fatal'] else 'note'}: {finding['what']}", f"  {finding['do']}"]
    return [*lines, "", "inference works" if d["inference_possible"] else "no inference is possible"]


_LABELS = {"images": "mapped", "devices": "EP devices", "ep cache": "EP caches"}


def _pairs(items: dict[str, str], between: str = " ") -> str:
    return ", ".join(f"{name}{between}{value}" for name, value in items.items())


def _stage(name: str, stage: dict[str, Any]) -> str:
    found = stage.get("found")
    if found is None:
        return f"failed: {stage.get('failed', '')}".splitlines()[0]
    if name == "inference":
        return f"{found['model']}, {found['operation']}: {'right' if found['equal'] else 'WRONG RESULT'}"
    if name == "ep cache":
        return f"{found['backend'] or 'no callbacks'}: {found['why']}"
    return ", ".join(found) or "none"
