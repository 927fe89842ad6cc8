"""First oracle: ctypesgen reads the same headers, with its own lexer and grammar, and what it sees is compared."""

from __future__ import annotations

import importlib.util
import logging
import sys
import warnings
from pathlib import Path
from typing import Any

from .canonical import Ours, Theirs
from .errors import GenError
from .model import Header, Member, Record
from .report import Report

__all__ = ["compare"]

_CPP = Path(__file__).with_name("oracle_ctypesgen_cpp.py")


def compare(header: Header, headers: list[Path], subject: str) -> Report:
    """Compare a header set's structs, enums and functions with what ctypesgen makes of the headers."""
    report = Report("ctypesgen", subject)
    if importlib.util.find_spec("ctypesgen") is None:
        report.why_not = "ctypesgen is not installed: `pip install ctypesgen` brings it"
        return report
    descriptions = _parse(headers, report)
    ours, theirs = Ours(header), Theirs(descriptions)
    _structs(report, ours, theirs, descriptions.structs)
    _enums(report, header, theirs, descriptions.enums)
    found = {f.name: theirs.function(f.restype, f.argtypes) for f in descriptions.functions}
    for name in _both(report, "function", header.functions, found):
        report.count("functions")
        report.compare(f"function {name}", ours.type(header.functions[name]), found[name])
    return report


def _parse(headers: list[Path], report: Report) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it opens files at its import and does not close them
        from ctypesgen import messages, options, parser

    chosen = options.get_default_options()
    chosen.cpp = f'"{sys.executable}" -P "{_CPP}"'  # -P: the folder of the script is no place to import from
    handler = _Errors(report)
    before = messages.log.level, messages.log.handlers[:]
    messages.log.handlers[:] = [handler]
    try:
        return parser.parse([str(path) for path in headers], chosen)
    finally:
        messages.log.setLevel(before[0])
        messages.log.handlers[:] = before[1]


class _Errors(logging.Handler):
    """What ctypesgen could not read is a problem, for it is not compared."""

    def __init__(self, report: Report) -> None:
        super().__init__(logging.ERROR)
        self.report = report

    def emit(self, record: logging.LogRecord) -> None:
        self.report.problems.append(f"ctypesgen: {record.getMessage()}")


def _both(report: Report, what: str, ours: Any, theirs: Any) -> list[str]:
    """The names that both have; the others are problems."""
    report.problems += [f"{what} {name}: ctypesgen does not see it" for name in ours if name not in theirs]
    report.problems += [f"{what} {name}: it is missing here" for name in theirs if name not in ours]
    return [name for name in ours if name in theirs]


def _structs(report: Report, ours: Ours, theirs: Theirs, structs: list[Any]) -> None:
    found = {theirs.type(struct.ctype): struct for struct in structs}
    handles = [name for name, struct in found.items() if struct.opaque]
    for _ in _both(report, "handle", ours.header.handles, handles):
        report.count("handles")
    whole = {name: struct for name, struct in found.items() if not struct.opaque}
    for name in _both(report, "struct", ours.header.records, whole):
        report.count("structs")
        _members(report, ours, theirs, ours.header.records[name], whole[name])


def _members(report: Report, ours: Ours, theirs: Theirs, record: Record, struct: Any) -> None:
    report.compare(f"{record.name} is a", record.kind, struct.variety)
    report.compare(f"{record.name} is packed", record.pack is not None, bool(struct.attrib.get("packed")))
    members = [(name, theirs.type(kind)) for name, kind in struct.members]
    report.compare(f"{record.name} has as many members", len(record.members), len(members))
    for index, (member, (name, kind)) in enumerate(zip(record.members, members, strict=False)):
        report.count("members")
        where = f"{record.name} member {index}"
        if member.name != name and not member.anonymous:
            report.problems.append(f"{where}: {member.name} here, {name} there")
        else:
            report.compare(f"{where} {name}", _type(ours, member), kind)


def _type(ours: Ours, member: Member) -> str:
    return ours.type(member.type) + (f":{member.bits}" if member.bits is not None else "")


def _enums(report: Report, header: Header, theirs: Theirs, enums: list[Any]) -> None:
    values = _Values()
    found = {}
    for enum in enums:
        found[theirs.type(enum.ctype)] = {name: values.add(name, expression) for name, expression in enum.members or ()}
    for name in _both(report, "enum", header.enums, found):
        report.count("enums")
        ours = header.enums[name].values
        for enumerator in _both(report, f"enumerator of {name}", ours, found[name]):
            report.count("enumerators")
            # ctypesgen computes with Python's integers, which do not wrap: 1 << 31 is positive there.
            wrapped = ours[enumerator] & 0xFFFFFFFF, found[name][enumerator] & 0xFFFFFFFF
            report.compare(f"{name}.{enumerator}", *wrapped)


class _Values:
    """The enumerators so far, and the values of ctypesgen's expressions over them."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def add(self, name: str, expression: Any) -> int:
        self.known[name] = self.of(expression)
        return self.known[name]

    def of(self, node: Any) -> int:
        match type(node).__name__:
            case "ConstantExpressionNode":
                return int(str(node.value), 0)  # literals that are not decimal stay text
            case "IdentifierExpressionNode":
                return self.known[node.name]
            case "UnaryExpressionNode" if node.op:
                return int(node.op(self.of(node.child)))
            case "BinaryExpressionNode" if node.op:
                return int(node.op(self.of(node.left), self.of(node.right)))
        raise GenError(f"ctypesgen has an expression that is not compared yet: {node!r}")
