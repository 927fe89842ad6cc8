"""Second oracle: a C program prints what the compiler makes of the headers, and ctypes is asked the same.

The program is written from the snapshot: sizeof and offsetof of every struct and member, the bytes of every bit-field
that is set, the value of every enumerator, constant and key.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from .errors import GenError
from .model import Header
from .preprocess import preprocess
from .probe import Probe
from .report import Report
from .runtime import load
from .spelling import Spelling

__all__ = ["compare", "compiler"]

_SECONDS = 120


def compiler() -> str | None:
    """The C compiler: ``CC``, or what is usual."""
    names = [os.environ["CC"]] if os.environ.get("CC") else ["gcc", "cc", "clang"]
    return next((found for name in names if (found := shutil.which(name))), None)


def compare(header: Header, headers: list[Path], subject: str) -> Report:
    """Compare a header set's layout and values with what a C compiler says of the headers."""
    report = Report("compiler", subject)
    command = compiler()
    if command is None:
        report.why_not = "no C compiler is on PATH (CC, gcc, cc, clang)"
        return report
    probe = Probe(load(header), report)
    probe.records(header, Spelling(header, preprocess(headers)))
    probe.enums(header)
    probe.constants(header)
    try:
        probe.check(_run(command, probe.program(headers)))
    except GenError as error:
        report.problems.append(str(error))
    return report


def _run(compiler: str, program: str) -> str:
    """Compile and run; what it printed."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "probe.c"), Path(folder, "probe.exe")
        source.write_text(program, "utf-8")
        _call([compiler, "-std=gnu17", "-w", "-o", str(binary), str(source)])
        return _call([str(binary)])


def _call(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise GenError(f"{Path(command[0]).name} does not run: {error}") from error
    if done.returncode:
        said = [line for line in done.stderr.decode(errors="replace").splitlines() if "error" in line][:5]
        raise GenError(f"{Path(command[0]).name} ends with {done.returncode}: {'; '.join(said)}")
    return done.stdout.decode("utf-8")
