"""ABI snapshots: a `Header` as JSON with one slot a line, so that ``git diff`` shows what an import changed."""

from __future__ import annotations

import json
import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .errors import GenError
from .model import Callback, CType, Enum, Function, Header, Member, Param, Record

__all__ = ["FORMAT", "dump", "dumps", "load", "loads"]

#: Raised when the form of the file changes.
FORMAT = 1


def dump(header: Header, path: Path) -> None:
    path.write_text(dumps(header), "utf-8", newline="\n")


def dumps(header: Header) -> str:
    """The snapshot's text: the same bytes for the same header, whatever the machine."""
    sections: list[tuple[str, str]] = [
        ("format", _line(FORMAT)),
        ("release", _line(header.release)),
        ("api_version", _line(header.api_version)),
        ("sources", _object(sorted(header.sources.items()))),
        ("constants", _object(header.constants.items())),
        ("typedefs", _object((name, str(kind)) for name, kind in header.typedefs.items())),
        ("handles", _array(header.handles)),
        ("enums", _nested((e.name, _enum(e)) for e in header.enums.values())),
        ("callbacks", _object((c.name, _callback(c)) for c in header.callbacks.values())),
        ("functions", _object((name, _function(kind)) for name, kind in header.functions.items())),
        ("structs", _nested((r.name, _record(r)) for r in header.records.values())),
        ("config_keys", _object(header.keys.items())),
        ("skipped_macros", _object(header.skipped.items())),
    ]
    return "{\n" + ",\n".join(f" {_line(name)}: {body}" for name, body in sections) + "\n}\n"


def load(path: Path) -> Header:
    """Read a snapshot.

    Raises:
        GenError: the file is missing, is not JSON, or was written in another form.
    """
    try:
        text = path.read_text("utf-8")
    except OSError as error:
        raise GenError(f"cannot read the snapshot {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise GenError(f"{path} is not a snapshot: {error}") from error
    return loads(text, str(path))


def loads(text: str, name: str = "snapshot") -> Header:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise GenError(f"{name} is not a snapshot: {error}") from error
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise GenError(f"{name} is not a snapshot of form {FORMAT}: import the headers again")
    try:
        return _header(data)
    except (GenError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise GenError(f"{name} is damaged ({error!r}): import the headers again") from error


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(items: Iterable[tuple[str, Any]]) -> str:
    return _block("{", (f"{_line(name)}: {_line(value)}" for name, value in items), "}", 2)


def _array(items: Iterable[Any]) -> str:
    return _block("[", (_line(item) for item in items), "]", 2)


def _nested(items: Iterable[tuple[str, str]]) -> str:
    return _block("{", (f"{_line(name)}: {body}" for name, body in items), "}", 2)


def _block(opening: str, lines: Iterable[str], closing: str, depth: int) -> str:
    body = list(lines)
    if not body:
        return opening + closing
    pad = "\n" + " " * depth
    return opening + pad + f",{pad}".join(body) + "\n" + " " * (depth - 1) + closing


def _function(kind: Function) -> dict[str, Any]:
    return {"returns": str(kind.returns), "params": [str(p) for p in kind.params], "convention": kind.convention}


def _callback(callback: Callback) -> dict[str, Any]:
    return {**_optional(since=callback.since), **_function(callback.type)}


def _enum(enum: Enum) -> str:
    head = _line(_optional(flags=enum.flags or None, since=enum.since))[1:-1]
    values = _block("{", (f"{_line(n)}: {v}" for n, v in enum.values.items()), "}", 4)
    return "{" + (head + ", " if head else "") + f'"values": {values}' + "}"


def _record(record: Record) -> str:
    head = _line({"kind": record.kind, **_optional(pack=record.pack, since=record.since)})[1:-1]
    members = _block("[", (_line(_member(i, m)) for i, m in enumerate(record.members)), "]", 4)
    return "{" + head + f', "members": {members}' + "}"


def _member(index: int, member: Member) -> dict[str, Any]:
    line: dict[str, Any] = {"index": index, "name": member.name, **_optional(since=member.since)}
    line |= _optional(bits=member.bits, anonymous=member.anonymous or None)
    if isinstance(member.type, Function):
        return line | _function(member.type)
    return line | {"type": str(member.type)}


def _optional(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _header(data: dict[str, Any]) -> Header:
    header = Header(release=data["release"])
    header.sources = dict(data["sources"])
    header.constants = dict(data["constants"])
    header.typedefs = {name: CType.parse(kind) for name, kind in data["typedefs"].items()}
    header.handles = list(data["handles"])
    header.enums = {name: _read_enum(name, e) for name, e in data["enums"].items()}
    header.callbacks = {
        name: Callback(name, _read_function(c), _number(c, "since")) for name, c in data["callbacks"].items()
    }
    header.functions = {name: _read_function(f) for name, f in data["functions"].items()}
    header.records = {name: _read_record(name, r) for name, r in data["structs"].items()}
    header.keys = dict(data["config_keys"])
    header.skipped = dict(data["skipped_macros"])
    _check_types(header)
    return header


def _check_types(header: Header) -> None:
    """A snapshot that was edited by hand may name a type that it does not have."""
    functions = [*header.functions.values(), *(c.type for c in header.callbacks.values())]
    types = list(header.typedefs.values())
    for member in (m for record in header.records.values() for m in record.members):
        if isinstance(member.type, Function):
            functions.append(member.type)
        else:
            types.append(member.type)
    for function in functions:
        types += [function.returns, *(param.type for param in function.params)]
    unknown = next((kind.base for kind in types if not header.knows(kind.base)), None)
    if unknown is not None:
        raise ValueError(f"the type {unknown} is not declared")


def _number(data: dict[str, Any], key: str) -> int | None:
    value = data.get(key)
    if value is not None and type(value) is not int:
        raise ValueError(f"{key} is {value!r}")
    return value


def _read_enum(name: str, data: dict[str, Any]) -> Enum:
    values = {enumerator: operator.index(value) for enumerator, value in data["values"].items()}
    return Enum(name, values, bool(data.get("flags")), _number(data, "since"))


def _read_function(data: dict[str, Any]) -> Function:
    if data["convention"] not in ("stdcall", "cdecl"):
        raise ValueError(data["convention"])
    params = tuple(Param.parse(p) for p in data["params"])
    return Function(CType.parse(data["returns"]), params, data["convention"])


def _read_record(name: str, data: dict[str, Any]) -> Record:
    members = []
    for index, line in enumerate(data["members"]):
        if line["index"] != index:
            raise ValueError(f"{name}.{line['name']} has index {line['index']} at place {index}")
        kind = _read_function(line) if "returns" in line else CType.parse(line["type"])
        members.append(
            Member(
                line["name"], kind, _number(line, "since"), _number(line, "bits"), anonymous=bool(line.get("anonymous"))
            )
        )
    if data["kind"] not in ("struct", "union"):
        raise ValueError(data["kind"])
    return Record(name, members, data["kind"], _number(data, "pack"), _number(data, "since"))
