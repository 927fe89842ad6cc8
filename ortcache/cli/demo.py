"""``ortcache demo``: one real inference, and what it ran on."""

from __future__ import annotations

import argparse
import os
from typing import Any

from .. import raw
from ..errors import OrtcacheError
from .output import add_json, add_library, columns, show

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("demo", help="run a small model and compare its result with the expected one")
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
    show(args, document, _text(document))
    return 0 if document["equal"] else 1


def _wrappers() -> tuple[Any, Any]:
    # Not at the top: they need numpy, and no other command does.
    try:
        import numpy  # noqa: F401
    except ImportError as error:
        reason = str(error).strip().partition("\n")[0]
        raise OrtcacheError(f"numpy cannot be imported ({reason}): `pip install --force-reinstall numpy`") from error
    from ..api.runtime import load
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
