"""Headers of a few lines: read, bound with ctypes, and compared with what a C compiler makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from gen import oracle_probe
from gen.errors import GenError, UnsupportedConstruct
from gen.model import Header
from gen.parse import parse
from gen.preprocess import preprocess_text
from gen.runtime import Loaded, load
from tests.support.oracles import compiler

__all__ = ["agrees_with_c", "bound", "parsed", "refused"]

#: What the generated modules cannot do without.
_TAIL = "\n#define ORT_API_VERSION 1\nstruct OrtTail { int tail; };\n"

#: Microsoft's words, for a compiler that knows them not. They change nothing where there is one convention.
_FOR_C = '#define __stdcall\n#define __cdecl\n#define ORTCHAR_T char\n#define ORT_API_CALL\n#include "header.h"\n'


def parsed(text: str) -> Header:
    """The header alone."""
    return parse(preprocess_text(text))


def bound(text: str, *, tail: bool = True) -> tuple[Header, Loaded]:
    """The header, and its ctypes types made through the generated declarations.

    Args:
        tail: add what the generated modules cannot do without, an API version and a slot.
    """
    header = parsed(text + _TAIL if tail else text)
    for record in header.records.values():
        for member in record.members:
            member.since = 1
    return header, load(header)


def agrees_with_c(text: str, folder: Path) -> dict[str, int]:
    """Assert that sizes, offsets, types and values are those of the C compiler; give what was compared."""
    compiler()
    header, _ = bound(text)
    (folder / "header.h").write_text(text + _TAIL, "utf-8")
    (folder / "for_c.h").write_text(_FOR_C, "utf-8")
    report = oracle_probe.compare(header, [folder / "for_c.h"], "header.h")
    assert report.status == "ran", "\n".join(report.lines())
    return report.counts


def refused(text: str, *words: str, line: int | None = None) -> UnsupportedConstruct:
    """Assert that the header is refused, at its line, in words that hold these."""
    with pytest.raises(GenError) as caught:
        parsed(text)
    error = caught.value
    assert isinstance(error, UnsupportedConstruct), str(error)
    for word in words:
        assert word in str(error)
    if line is not None:
        assert (error.coord.file, error.coord.line) == ("header.h", line)
    return error
