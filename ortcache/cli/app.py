"""The parser, and what every command has in common: exit codes, errors in one line, quiet ends."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import __version__
from ..errors import InputError, OrtcacheError
from . import abi, demo, doctor, get, ls, prune, put, rm, stats, verify, warm
from .output import complain, error_text

__all__ = ["main"]

_EPILOG = """\
exit codes: 0 all is well; 1 a finding: no inference is possible, or a break between two API versions;
2 wrong usage. ORTCACHE_LIBRARY names the ONNX Runtime library to use, or the folder that holds it.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and give its exit code."""
    args = _parser().parse_args(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a path that the terminal's encoding lacks must not end a command
            stream.reconfigure(errors="backslashreplace")
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


def _drop_output() -> None:
    """What is still buffered must not fail again when the interpreter exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ortcache",
        description="ONNX Runtime's C API from Python: what is declared, what is installed, and whether it runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ortcache {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command in (demo, doctor, ls, get, put, rm, verify, prune, stats, warm, abi):
        command.add_parser(commands)
    return parser
