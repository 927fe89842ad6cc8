"""``ortcache warm``: fill a store with what a provider builds for models, before anybody waits for it."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import Any

from ..errors import InputError, OrtcacheError
from ..stores.url import STORE_VARIABLE
from .output import add_json, add_library, columns, complain, show
from .target import checked_location, store_url
from .units import size_text
from .warm_job import Job

__all__ = ["add_parser"]

_EPILOG = """\
The execution provider is one of the library's own, such as OpenVINOExecutionProvider; one of a plugin, which
--ep-library names, or a package such as onnxruntime-ep-openvino brings; or one written in Python, as module:Class.
MulExecutionProvider is the example that comes with ortcache.

It keeps its cache through callbacks, or, where it knows only a directory, in a private one that the store fills and
gets back. Then the entry has the provider's short name, such as openvino, under a scope of: model, ort_version, ep,
ep_version and device (vendor and device id) of a plugin, the options given, and what --scope-extra adds; --json prints
it. Through callbacks there is a scope only where --scope-extra is given.

Exit codes: 0 every model is warm now, or was before; 1 one is not: it cannot be loaded, the provider is not there or
stored nothing, the store failed, or ORTCACHE_DISABLE turns every cache off; 2 wrong usage.
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "warm",
        help="make sessions, so that a provider's cache is in a store before it is needed",
        description="Make a session of each model, so that what the execution provider builds is in the store.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("models", metavar="MODEL", nargs="+", help="model files")
    add("--ep", metavar="NAME", required=True, help="the execution provider")
    add("--ep-library", metavar="PATH", help="the plugin that brings it")
    add("--store", metavar="STORE", default="-", help=f"a folder or a URL; else what {STORE_VARIABLE} names")
    add("--option", metavar="K=V", action="append", type=_pair, default=[], help="an option of the provider")
    add("--device", metavar="N", type=int, help="which of the plugin's devices; 0 is the first")
    add("--scope-extra", metavar="K=V", action="append", type=_pair, default=[], help="a further part of the scope")
    add("--mode", choices=("callbacks", "directory"), help="the way of the cache, where ortcache shall not choose")
    add("--cache-option", metavar="NAME", help="the option for the directory, of a provider that is not known here")
    add("--read-only", action="store_true", help="store nothing: is every model warm?")
    add("--runs", metavar="N", type=_count, help="runs of each session; 1 where a --shape is given, else 0")
    add("--shape", metavar="NAME=1,3", action="append", type=_shape, default=[], help="an input's shape in the runs")
    add_library(parser)
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    from ..epcache import DISABLE, caches_disabled
    from .progress import open_display
    from .store_check import check_store
    from .warming import warm_model

    jobs = _jobs(args)
    if caches_disabled():
        raise OrtcacheError(f"{DISABLE} is set: every cache is off, so there is nothing to warm")
    checked_location(args.store, make=not args.read_only)
    check = check_store(store_url(args.store), read_only=args.read_only)
    if check.failed:  # before a build that may take long
        raise OrtcacheError(f"the store {check.store} does not work: {check.failed}: {check.error}. {check.do}")
    display = open_display()
    try:
        results = [warm_model(job, display) for job in jobs]
    finally:
        display.close()
    failed = [result for result in results if result["outcome"] == "failed"]
    code = max((2 if result.pop("usage", False) else 1 for result in failed), default=0)
    show(args, {"store": check.store, "models": results}, _text(results))
    for result in failed:
        complain(f"{result['model']}: {result['problem']}")
    return code


def _jobs(args: argparse.Namespace) -> list[Job]:
    runs = args.runs if args.runs is not None else int(bool(args.shape))
    if args.shape and not runs:
        raise InputError("--shape is for runs, and --runs 0 wants none")
    if args.cache_option and args.mode == "callbacks":
        raise InputError("--cache-option names an option for a directory, which --mode callbacks has none of")
    common = Job(
        model="",
        ep=args.ep,
        store=store_url(args.store),
        library=args.library,
        ep_library=args.ep_library,
        options=dict(args.option),
        device=args.device,
        extra=dict(args.scope_extra),
        way=args.mode,
        cache_option=args.cache_option,
        read_only=args.read_only,
        shapes=dict(args.shape),
        runs=runs,
    )
    return [replace(common, model=model) for model in args.models]


def _text(results: list[dict[str, Any]]) -> list[str]:
    rows: list[tuple[object, ...]] = [("model", "outcome", "seconds", "stored", "read")]
    for result in results:
        if result["outcome"] == "failed":
            rows.append((result["model"], "failed", "", "", ""))
        else:
            sizes = (size_text(result[name]) for name in ("bytes_stored", "bytes_read"))
            rows.append((result["model"], result["outcome"], f"{result['seconds']:.2f}", *sizes))
    return columns(rows, right=(2, 3, 4))


def _pair(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not mark or not name:
        raise argparse.ArgumentTypeError(f"{text!r} is not KEY=VALUE")
    return name, value


def _shape(text: str) -> tuple[str, list[int]]:
    name, mark, sizes = text.rpartition("=")
    try:
        shape = [int(size) for size in sizes.split(",")] if sizes else []
    except ValueError:
        shape = [-1]
    if not mark or not name or any(size < 0 for size in shape):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=SIZE,SIZE,…, such as input=1,3,224,224")
    return name, shape


def _count(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of runs")
    return int(text)
