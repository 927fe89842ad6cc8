"""``ortcache demo``: one real inference, what it ran on, and a provider's cache through callbacks."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .. import raw
from ..errors import HostError, OrtcacheError
from .demo_cache import cache_phases, cache_text
from .output import add_json, add_library, columns, show

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("demo", help="run a small model, and a provider with its cache in a store")
    add_library(parser)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    load, infer = _wrappers()

    with load(args.library) as runtime:
        choice = runtime.native.choice
        document = {
            "library": os.fspath(choice.path) if choice else None,
            "chosen": choice.source if choice else None,
            "version": runtime.version,
            "api_version": runtime.api_version,
            "library_api_version": runtime.native.library_api_version,
            "generated_api_version": raw.GENERATED_API_VERSION,
            **infer(runtime),
        }
        reason = _no_cache(runtime)
    phases = [] if reason else cache_phases(str(document["library"]))
    document |= {"ep_cache": phases, "ep_cache_unavailable": reason}
    show(args, document, [*_text(document), *(cache_text(phases) if phases else ["", str(reason)])])
    return 0 if document["equal"] and all(_as_expected(phase) for phase in phases) else 1


def _no_cache(runtime: Any) -> str | None:
    """Why the second half cannot run here; None where it can."""
    from ..host.shim import check_platform

    try:
        check_platform()
    except HostError as error:
        return str(error)
    if runtime.ep_cache_backend is None:
        return f"EP caches through callbacks need ONNX Runtime 1.23 or later; this is {runtime.version}"
    return None


def _as_expected(phase: dict[str, Any]) -> bool:
    """A warm process finds what the cold one stored, and a damaged entry is written again."""
    stats = phase["stats"]
    stored = stats["writes"] == (0 if phase["phase"].startswith("warm") else 1)
    return bool(phase["equal"] and stored and stats["hits"] == (0 if phase["phase"] == "cold" else 1))


def _wrappers() -> tuple[Any, Any]:
    # Not at the top: they need numpy, and no other command does.
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        reason = str(error).strip().partition("\n")[0]
        raise OrtcacheError(f"numpy cannot be imported ({reason}): `pip install --force-reinstall numpy`") from error
    from ..runtime import load
    from .sample import infer

    return load, infer


def _text(d: dict[str, Any]) -> list[str]:
    api = f"{d['api_version']} (the library has {d['library_api_version']}, the bindings {d['generated_api_version']})"
    rows = [
        ("library", f"{d['library']} ({d['chosen']})"),
        ("ONNX Runtime", d["version"]),
        ("API version", api),
        ("model", d["model"]),
        ("ran", d["operation"]),
        ("X", d["input"]),
        ("Y", d["output"]),
        ("expected", d["expected"]),
        ("result", "equal to the expected one" if d["equal"] else "NOT equal to the expected one"),
    ]
    return columns(rows)
