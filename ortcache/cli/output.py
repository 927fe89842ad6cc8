"""How commands print: text for people, or one JSON document."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any

from ..core.status import describe
from ..errors import OrtcacheError
from ..stores.masking import masked

__all__ = ["add_json", "add_library", "columns", "complain", "error_text", "say", "show"]


def add_json(parser: argparse.ArgumentParser) -> None:
    """Give a command its ``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of text")


def add_library(parser: argparse.ArgumentParser) -> None:
    """Give a command its ``--library``."""
    parser.add_argument(
        "--library", metavar="PATH", help="the ONNX Runtime library, or a folder that holds it; else it is searched for"
    )


def show(args: argparse.Namespace, document: Any, lines: Iterable[str]) -> None:
    """Print the document where ``--json`` asks for it, else the lines."""
    print(json.dumps(document, indent=2) if args.json else "\n".join(lines))


def complain(text: str) -> None:
    """Say on standard error, in one line, what is not as it should be."""
    say(f"ortcache: {_one_line(text)}")


def say(text: str, end: str = "\n") -> None:
    """Print on standard error, where there is one: without, `print` would take standard output."""
    if sys.stderr is not None:
        print(text, end=end, file=sys.stderr, flush=True)


def error_text(error: BaseException) -> str:
    """An error in one line, without what a URL in it keeps secret. One that is not ours says its type, and the system's
    what is wrong with which file."""
    if isinstance(error, OrtcacheError):
        text = str(error)
    elif isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{os.fsdecode(error.filename)}: {error.strerror}"
    else:
        text = describe(error)
    return masked(_one_line(text))


def columns(rows: Iterable[Sequence[object]], *, right: Sequence[int] = ()) -> list[str]:
    """Rows of cells as lines with aligned columns; ``right`` names the columns to align right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if at in right else cell.ljust(width)
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def _one_line(text: str) -> str:
    return re.sub(r":; ", ": ", re.sub(r"\s*\n\s*", "; ", text.strip()))
