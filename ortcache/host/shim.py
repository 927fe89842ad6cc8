"""The library file that ORT is given to open: on memory where the system has memory files, else a file that is
unlinked as soon as it is open."""

from __future__ import annotations

import itertools
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from ..errors import HostError
from .elf import MACHINES, shared_object

__all__ = ["Shim", "check_platform"]

_numbers = itertools.count(1)


def check_platform() -> str:
    """The machine's name, as `elf.MACHINES` has it.

    Raises:
        HostError: no shim can be written for this platform.
    """
    machine = {"amd64": "x86_64", "arm64": "aarch64"}.get(platform.machine().lower(), platform.machine().lower())
    if sys.platform != "linux" or machine not in MACHINES or sys.maxsize < 2**32:
        raise HostError(
            f"on {sys.platform} ({platform.machine()}) execution providers cannot be put between ONNX Runtime and "
            "Python: the host covers 64-bit Linux on x86-64 and aarch64. What works here: everything of the C API, "
            "and the EP cache callbacks once the installed ONNX Runtime has them itself."
        )
    return machine


class Shim:
    """A shared object whose functions jump to addresses in this process.

    Args:
        functions: exported name to address.

    Attributes:
        path: what to hand to ``dlopen``.
    """

    def __init__(self, functions: Mapping[str, int]) -> None:
        image = shared_object(check_platform(), functions)
        self._file = _memory_file(image)
        self._temporary = None if self._file is not None else _temporary_file(image)
        self.path = _unique_path(self._file) if self._file is not None else str(self._temporary)

    def loaded(self) -> None:
        """Say that the library was opened, or will not be: the file goes now. What was loaded from it stays loaded."""
        if self._temporary is not None:
            self._temporary.unlink(missing_ok=True)
            self._temporary = None
        if self._file is not None:
            file, self._file = self._file, None
            os.close(file)


def _unique_path(file: int) -> str:
    """The descriptor's path, spelt as no shim's before: the loader takes a library by a name that it knows for the one
    that it has, descriptors are used again, and not every library that was closed is unloaded."""
    number = next(_numbers)
    # Going into a folder and out again leads nowhere else, so the number is written in folders, bit by bit. (Dots and
    # slashes would do for the loader, but pathlib drops them.)
    spelling = "".join("fd/../" if number >> place & 1 else "task/../" for place in range(number.bit_length()))
    return f"/proc/self/{spelling}fd/{file}"


def _memory_file(image: bytes) -> int | None:
    """None where there are none, a sandbox forbids them, or they cannot be reached by a path."""
    if not Path("/proc/self/fd").is_dir():
        return None
    try:
        file = os.memfd_create("ortcache-shim", os.MFD_CLOEXEC)
    except (AttributeError, OSError):
        return None
    try:
        _write(file, image)
    except OSError:
        os.close(file)
        return None
    return file


def _temporary_file(image: bytes) -> Path:
    try:
        file, name = tempfile.mkstemp(prefix="ortcache-shim-", suffix=".so")
        try:
            _write(file, image)
        finally:
            os.close(file)
    except OSError as error:
        raise HostError(
            f"neither a memory file nor a temporary one can be made ({error}): set TMPDIR to a folder that is writable "
            "and allows executable files"
        ) from error
    return Path(name)


def _write(file: int, image: bytes) -> None:
    with os.fdopen(os.dup(file), "wb") as stream:
        stream.write(image)
