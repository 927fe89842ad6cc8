"""``python -m gen``: from upstream's headers to ``ortcache/raw``, a stage a command.

Exit codes: 0 all is well, 1 a finding (stale output, a break), 2 bad usage or input that cannot be read.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import os
import sys
from collections.abc import Iterator, Sequence

from .errors import GenError

__all__ = ["main"]

#: Command -> the module with its ``add_arguments`` and ``run``, and what it is for.
_COMMANDS = {
    "fetch": ("gen.commands.fetch", "bring upstream's headers here and verify them"),
    "import": ("gen.commands.import_", "read headers into an ABI snapshot"),
    "build": ("gen.commands.build", "write ortcache/raw from a snapshot and the overlays"),
    "check": ("gen.check", "is the committed output fresh, and do the oracles agree?"),
    "diff": ("gen.commands.diff", "what changed between two snapshots, and does it break?"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; give its exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    try:
        args = _parser(arguments[:1]).parse_args(arguments)
        with _no_collection():
            code = int(args.run(args))
        sys.stdout.flush()
        return code
    except GenError as error:
        return _failed(str(error))
    except ModuleNotFoundError as error:
        if error.name not in ("pcpp", "pycparser"):
            raise
        return _failed(f"{error.name} is not installed here: `pip install -e .[gen]` brings what the generator needs")
    except BrokenPipeError:  # `python -m gen diff … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141  # as a shell says it of a command that the signal ended
    except OSError as error:
        return _failed(f"{error.filename or 'file'}: {error.strerror or error}")
    except KeyboardInterrupt:
        return _failed("interrupted", 130)


def _parser(chosen: Sequence[str]) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m gen",
        description="From ONNX Runtime's C headers to ortcache/raw.",
        epilog="Exit codes: 0 all is well, 1 a finding (stale output, a break), 2 bad usage or input.",
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name, (module, purpose) in _COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if name in chosen:  # only the command that runs is imported, with what it needs
            stage = importlib.import_module(module)
            stage.add_arguments(command)
            command.set_defaults(run=stage.run)
    return parser


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """A command makes many objects, and hardly one becomes garbage: looking for some takes a quarter of its time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _failed(message: str, code: int = 2) -> int:
    print(f"python -m gen: error: {message}", file=sys.stderr)
    return code
