"""The parser, and what every command has in common: exit codes, errors in one line, quiet ends."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Sequence
from typing import Any

from .. import __version__
from ..errors import InputError, OrtcacheError
from . import abi, bundle_export, bundle_import, demo, doctor, get, ls, prune, put, rm, stats, verify, warm
from .output import columns, complain, error_text

__all__ = ["main"]

_EXIT_CODES = """\
exit codes: 0 all is well; 1 a finding or a failure, such as no inference, a damaged entry, a model that is not warm, a
store that does not work; 2 wrong usage or bad input. ORTCACHE_LIBRARY names the ONNX Runtime library to use, or the
folder that holds it; ORTCACHE_STORE names the default store; ORTCACHE_DISABLE=1 turns every cache off.
"""

_GROUPS = {
    "ONNX Runtime": (doctor, demo, abi),
    "stores": (ls, get, put, rm, verify, prune, stats, bundle_export, bundle_import),
    "caches": (warm,),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    args = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a path that the terminal's encoding lacks must not end a command
            stream.reconfigure(errors="backslashreplace")
    # That a backend fails is what the command says itself; that it is left alone for a while matters to no command.
    stores = logging.getLogger("ortcache.stores")
    stores.addFilter(_not_of_breaker)
    try:
        code: int = args.run(args)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code
    except KeyboardInterrupt:
        return 130  # as a shell says it
    except BrokenPipeError:
        _drop_output()  # whoever read has seen enough
        return 141
    except OSError as error:
        _drop_output()
        complain(error_text(error))
        return 1
    except OrtcacheError as error:
        complain(error_text(error))
        return 2 if isinstance(error, InputError) else 1
    finally:
        stores.removeFilter(_not_of_breaker)


def _not_of_breaker(record: logging.LogRecord) -> bool:
    return record.module != "breaker"


def _drop_output() -> None:
    """What is still buffered must not fail again when the interpreter exits."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ortcache",
        usage="ortcache [-h] [--version] COMMAND …",
        description="ONNX Runtime's C API from Python, and the caches of its execution providers.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ortcache {__version__}")
    commands = parser.add_subparsers(prog="ortcache", metavar="COMMAND", required=True, help=argparse.SUPPRESS)
    listing = []
    for title, modules in _GROUPS.items():
        group = _Group(commands)
        for command in modules:
            command.add_parser(group)
        listing += [f"{title}:", *columns((f"  {name}", text) for name, text in group.listed), ""]
    parser.epilog = "\n".join([*listing, _EXIT_CODES])
    return parser


class _Group:
    """Takes the place of argparse's collection of commands, which cannot list them in groups."""

    def __init__(self, commands: Any) -> None:
        self._commands = commands
        self.listed: list[tuple[str, str]] = []

    def add_parser(self, name: str, *, help: str, **how: Any) -> Any:
        self.listed.append((name, help))
        return self._commands.add_parser(name, **{"description": help[0].upper() + help[1:] + ".", **how})
