"""``ortcache get``: a value out of a store."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from ..errors import InputError, OrtcacheError
from .output import add_json, show
from .target import add_store, opened, shown
from .units import size_text

__all__ = ["add_parser", "write_file"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "get",
        help="give a value, as it is stored, to a file or to standard output",
        description="Give a value, as it is stored. Exit code 1 where there is none.",
    )
    add_store(parser)
    parser.add_argument("key", metavar="KEY")
    parser.add_argument("-o", "--output", metavar="FILE", help="whole or not at all; '-', or nothing: standard output")
    parser.add_argument("-f", "--force", action="store_true", help="also to a terminal")
    add_json(parser)
    parser.set_defaults(run=_run)


def _run(args: argparse.Namespace) -> int:
    to_stdout = args.output in (None, "-")
    if to_stdout and args.json:
        raise InputError("--json says what was written, so the value needs a file: add -o FILE")
    if to_stdout and sys.stdout is None:
        raise InputError("there is no standard output to give the value to: add -o FILE")
    if to_stdout and sys.stdout.isatty() and not args.force:
        raise InputError("a value is binary, and standard output is a terminal: add -o FILE, or -f to write it anyway")
    with opened(args.store, read_only=True) as store:
        value = store.get(args.key)
    if value is None:
        raise OrtcacheError(f"nothing is stored as {args.key} in {shown(args.store)}")
    if to_stdout:
        sys.stdout.buffer.write(value)
        return 0
    write_file(Path(args.output), value)
    document = {"key": args.key, "size": len(value), "output": args.output}
    show(args, document, [f"{args.key}: {size_text(len(value))} to {args.output}"])
    return 0


def write_file(path: Path, value: bytes) -> None:
    """Write a file whole or not at all; into what is no ordinary file, such as a device, directly."""
    if path.exists() and not path.is_file():
        path.write_bytes(value)
        return
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(value)
        Path(name).chmod(path.stat().st_mode & 0o7777 if path.exists() else 0o666 & ~_umask())
        Path(name).replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
