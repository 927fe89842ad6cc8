r"""Copies of fetched headers with edits, as a later release might have them. Works on the text, as upstream would.

`edited_headers` appends to and inserts in named structs and sets ORT_API_VERSION. `future_headers` gives headers in
which everything that the overlays declare is upstream's: each placeholder has a name, and the three proposed functions
are ordinary slots with a since-version.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from gen.importer import import_headers
from gen.model import CType, Function, Header, Member
from gen.overlay import apply, read_overlay
from gen.paths import OVERLAYS, TABLES
from gen.since import load_tables

__all__ = ["declaration", "edited_headers", "future_headers", "slot"]

_NOT_CODE = re.compile(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL)


def slot(name: str, since: int, params: str = "const OrtEnv* env", returns: str = "OrtStatus*") -> str:
    r"""A slot as upstream writes one, with its ``\since``."""
    return f"/** \\since Version 1.{since}. */\n  {returns}(ORT_API_CALL* {name})({params});"


def declaration(member: Member, since: int) -> str:
    """A member of the model as upstream would write it."""
    if isinstance(member.type, Function):
        params = ", ".join(map(str, member.type.params)) or "void"
        return slot(member.name, since, params, str(member.type.returns))
    plain = replace(member.type, dims=())
    dims = "".join(f"[{n}]" for n in member.type.dims)
    return f"/** \\since Version 1.{since}. */\n  {plain} {member.name}{dims};"


def edited_headers(
    source: Path,
    target: Path,
    *,
    append: Mapping[str, Sequence[str]] | None = None,
    insert: Sequence[tuple[str, str, str]] = (),
    declare: str = "",
    api_version: int | None = None,
) -> Path:
    """Copy the headers in ``source`` to ``target`` and edit the copy; give ``target``.

    Args:
        append: struct -> declarations to put behind its last member.
        insert: (struct, member, declaration): put it in front of that member.
        declare: text in front of ``struct OrtApi``, for types that the declarations use.
        api_version: what ORT_API_VERSION becomes.
    """
    shutil.copytree(source, target)
    for struct, declarations in (append or {}).items():
        if declarations:
            _edit(target, struct, None, "\n  ".join(declarations))
    for struct, member, text in insert:
        _edit(target, struct, member, text)
    main = target / "onnxruntime_c_api.h"
    text = main.read_text("utf-8")
    if declare:
        start = _body(text, "OrtApi")
        assert start, "no struct OrtApi"
        line = text.rindex("\n", 0, start[0]) + 1
        text = f"{text[:line]}{declare}\n\n{text[line:]}"
    if api_version is not None:
        text, count = re.subn(r"(#define\s+ORT_API_VERSION\s+)\d+", rf"\g<1>{api_version}", text)
        assert count == 1, "no ORT_API_VERSION to change"
    main.write_text(text, "utf-8")
    return target


def future_headers(source: Path, target: Path, api_version: int = 33, overlays: Iterable[Path] = OVERLAYS) -> Path:
    """The headers of a release in which all that the overlays declare is upstream's own."""
    base = import_headers(source, load_tables(TABLES)).header
    full = base
    for path in overlays:
        full, _ = apply(full, read_overlay(path))
    append = {
        name: [
            declaration(_named(m), m.since or api_version) for m in record.members[len(base.records[name].members) :]
        ]
        for name, record in full.records.items()
        if name in base.records
    }
    return edited_headers(source, target, append=append, declare=_types(base, full), api_version=api_version)


def _named(member: Member) -> Member:
    """A placeholder with the name and type that it might turn out to have."""
    if member.status != "placeholder":
        return member
    return Member(member.name.replace("placeholder", "Named"), Function(CType("void"), (), "stdcall"), member.since)


def _types(base: Header, full: Header) -> str:
    lines = [f"typedef struct {name} {name};" for name in full.handles if name not in base.handles]
    for name, callback in full.callbacks.items():
        if name not in base.callbacks:
            params = ", ".join(map(str, callback.type.params))
            lines.append(f"typedef {callback.type.returns}(ORT_API_CALL* {name})({params});")
    for name, enum in full.enums.items():
        if name not in base.enums:
            values = ", ".join(f"{key} = {value}" for key, value in enum.values.items())
            lines.append(f"typedef enum {name} {{ {values} }} {name};")
    return "\n".join(lines)


def _edit(folder: Path, struct: str, member: str | None, declaration: str) -> None:
    for path in sorted(folder.glob("*.h")):
        text = path.read_text("utf-8")
        body = _body(text, struct)
        if body is not None:
            at = body[1] if member is None else _start_of(text, body, member)
            path.write_text(f"{text[:at]}  {declaration}\n{text[at:]}", "utf-8")
            return
    raise ValueError(f"no struct {struct} in {folder}")


def _code(text: str) -> str:
    """The text with comments and strings blanked out, every character in its place."""
    return _NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def _body(text: str, struct: str) -> tuple[int, int] | None:
    """Where a struct's members start, and where they end: on a line of its own, or at the closing brace."""
    code = _code(text)
    match = re.search(rf"\bstruct\s+{struct}\s*\{{", code)
    if match is None:
        return None
    depth, at = 1, match.end()
    while depth:
        depth += {"{": 1, "}": -1}.get(code[at], 0)
        at += 1
    line = text.rindex("\n", 0, at) + 1
    return match.end(), at - 1 if code[line : at - 1].strip() else line


def _start_of(text: str, body: tuple[int, int], member: str) -> int:
    """The line behind the declaration that stands before a member: its comment is between the two."""
    code = _code(text)
    names = [rf"\*\s*{member}\s*\)\s*\(", rf"\b{member}\s*(\[[^]]*\]\s*)?;", rf"\bORT_API2_STATUS\(\s*{member}\s*,"]
    if member.startswith("Release"):
        names.append(rf"\bORT_CLASS_RELEASE\(\s*{member.removeprefix('Release')}\s*\)")
    match = re.compile("|".join(names)).search(code, body[0], body[1])
    if match is None:
        raise ValueError(f"no member {member} there")
    before = max(code.rfind(";", body[0], match.start()), body[0])
    return text.index("\n", before) + 1
