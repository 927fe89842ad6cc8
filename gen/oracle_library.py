"""Third oracle: a real library has a function in every slot that the snapshot says it has."""

from __future__ import annotations

import ctypes
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import GenError
from .model import Header, Record
from .overlay import generated_version
from .report import Report
from .runtime import load

__all__ = ["check_table", "compare", "find_library"]

#: The tables that OrtApi hands out: the slot that does, and the table's type.
_TABLES = {
    "GetModelEditorApi": "OrtModelEditorApi",
    "GetCompileApi": "OrtCompileApi",
    "GetEpApi": "OrtEpApi",
    "GetInteropApi": "OrtInteropApi",
}

_PATTERNS = ("libonnxruntime.so*", "libonnxruntime*.dylib", "onnxruntime.dll")


def find_library() -> Path | None:
    """The library in the installed onnxruntime wheel; the module itself is not imported."""
    spec = importlib.util.find_spec("onnxruntime")
    folders = [Path(place, "capi") for place in (spec.submodule_search_locations or ())] if spec else []
    found = (path for folder in folders for pattern in _PATTERNS for path in sorted(folder.glob(pattern)))
    return next((path for path in found if "providers" not in path.name), None)


def compare(header: Header, subject: str, library: Path | None = None) -> Report:
    """Look into the tables of a library at the version that both sides know."""
    report = Report("library", subject)
    if not {"OrtApiBase", "OrtApi"} <= header.records.keys():
        report.why_not = "the headers declare no OrtApiBase with an OrtApi"
        return report
    path = library or find_library()
    if path is None:
        report.why_not = "no onnxruntime wheel with a shared library is installed"
        return report
    try:
        base = _api_base(header, path)
    except OSError as error:
        report.problems.append(f"{path.name} does not load: {error}")
        return report
    text = base.GetVersionString().decode()
    version = min(int(text.split(".")[1]), generated_version(header))
    report.subject = f"{subject} on {path.name} at API version {version}"
    code = _code(path)
    api = base.GetApi(version)
    if not api:
        report.problems.append(f"GetApi({version}) of a library that calls itself {text} gives NULL")
        return report
    check_table(header.records["OrtApi"], ctypes.addressof(api.contents), version, code, report)
    for getter, table in _TABLES.items():
        found = header.records["OrtApi"].find(getter)
        if table in header.records and found and (found[1].since or 0) <= version:
            address = ctypes.cast(getattr(api.contents, getter)(), ctypes.c_void_p).value
            check_table(header.records[table], address, version, code, report)
    return report


def check_table(record: Record, address: int | None, version: int, code: list[range], report: Report) -> None:
    """Every slot that the version has holds the address of a function.

    Args:
        address: of the table.
        code: where the library's functions lie; nothing where that cannot be told.
    """
    report.count("tables")
    if not address:
        report.problems.append(f"{record.name}: the library gives NULL")
        return
    slots = (ctypes.c_void_p * len(record.members)).from_address(address)
    for index, member in enumerate(record.members):
        if member.status == "proposed" or (member.since is not None and member.since > version):
            continue
        where = f"{record.name} slot {index} {member.name}"
        if member.since is None:
            report.problems.append(f"{where}: its since-version is not known")
            continue
        report.count("slots")
        value = slots[index]
        if not value:
            report.problems.append(f"{where} is since 1.{member.since}, but NULL in the library")
        elif code and not any(value in part for part in code):
            report.problems.append(f"{where} is since 1.{member.since}, but holds no function of the library")


def _api_base(header: Header, path: Path) -> Any:
    library = ctypes.CDLL(str(path))
    get = getattr(library, "OrtGetApiBase", None)
    if get is None:
        raise GenError(f"{path} exports no OrtGetApiBase: it is no ONNX Runtime library")
    get.restype = ctypes.POINTER(load(header).bindings.get("OrtApiBase"))
    return get().contents


def _code(path: Path) -> list[range]:
    """The addresses of the library's code, where the system tells."""
    maps = Path("/proc/self/maps")
    if not sys.platform.startswith("linux") or not maps.is_file():
        return []
    return list(_executable(maps.read_text("utf-8", "surrogateescape"), path.resolve()))


def _executable(maps: str, path: Path) -> Iterator[range]:
    for line in maps.splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and "x" in fields[1] and Path(fields[5]) == path:
            start, _, end = fields[0].partition("-")
            yield range(int(start, 16), int(end, 16))
