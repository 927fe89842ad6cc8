"""``ortcache put``: a value into a store."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..keys import check_key
from .output import add_json, show
from .target import add_store, opened, shown
from .units import size_text

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "put",
        help="store a value from a file or standard input, as it is",
        description="Store a value as it is, in place of one that is there. A local store is made where there is none.",
    )
    add_store(parser)
    parser.add_argument("key", metavar="KEY", help="1 to 200 of A-Z a-z 0-9 . _ -, with no dot at the start")
    parser.add_argument("file", metavar="FILE", nargs="?", help="'-', or nothing: standard input")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    check_key(args.key)
    if args.file not in (None, "-"):
        value = Path(args.file).read_bytes()
    elif sys.stdin is None or (args.file is None and sys.stdin.isatty()):
        raise InputError("name a FILE, or give the value on standard input")
    else:
        value = sys.stdin.buffer.read()
    with opened(args.store, make=True) as store:
        store.put(args.key, value)
    document = {"store": shown(args.store), "key": args.key, "size": len(value)}
    show(args, document, [f"{args.key}: {size_text(len(value))} stored"])
    return 0
