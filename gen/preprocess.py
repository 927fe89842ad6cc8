"""First stage: header files to one stream of C tokens, through pcpp. No compiler and no system header is needed."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pcpp
from pcpp.parser import Action, OutputDirective

from .errors import Coord, GenError, UnsupportedConstruct

__all__ = ["Macro", "Preprocessed", "Token", "preprocess", "preprocess_text"]

#: System headers that declare nothing a binding needs beyond the scalars that the parser already knows.
_STANDARD = {
    "assert.h", "float.h", "inttypes.h", "limits.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h",
    "stdint.h", "stdio.h", "stdlib.h", "string.h", "sys/types.h", "wchar.h",
}  # fmt: skip

#: Macros whose definition in the header would hide a difference between platforms. They stay in the token stream
#: as they are written, and the stages after this one know them.
_PLATFORM = {"ORTCHAR_T", "ORT_API_CALL"}

#: What the C standard promises and headers use in expressions, for the LP64 and LLP64 platforms that ORT ships for.
_PREDEFINED = {
    "CHAR_BIT": "8", "INT8_MIN": "(-128)", "INT8_MAX": "127", "UINT8_MAX": "255",
    "INT16_MIN": "(-32768)", "INT16_MAX": "32767", "UINT16_MAX": "65535",
    "INT32_MIN": "(-2147483647-1)", "INT32_MAX": "2147483647", "UINT32_MAX": "4294967295U",
    "INT_MIN": "(-2147483647-1)", "INT_MAX": "2147483647", "UINT_MAX": "4294967295U",
    "INT64_MIN": "(-9223372036854775807LL-1)", "INT64_MAX": "9223372036854775807LL",
    "UINT64_MAX": "18446744073709551615ULL", "SIZE_MAX": "18446744073709551615ULL",
    "true": "1", "false": "0",
}  # fmt: skip


@dataclass(frozen=True)
class Token:
    text: str
    coord: Coord


@dataclass(frozen=True)
class Macro:
    """A ``#define`` as the headers leave it. ``function`` is true when it takes arguments."""

    name: str
    body: str
    function: bool
    coord: Coord


@dataclass
class Preprocessed:
    tokens: list[Token]
    macros: dict[str, Macro]
    texts: dict[str, str] = field(default_factory=dict)  # file name -> its text, for the comments
    hashes: dict[str, str] = field(default_factory=dict)  # file name -> sha256 of its bytes


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp with its hooks turned into errors, so that nothing is passed over in silence."""

    def __init__(self) -> None:
        super().__init__()
        self.line_directive = None
        self.texts: dict[str, str] = {}
        self.hashes: dict[str, str] = {}
        for name, value in _PREDEFINED.items():
            self.define(f"{name} {value}")
        self.builtin = set(self.macros)

    def on_error(self, file: str, line: int, msg: str) -> None:
        raise GenError(f"{_base(file)}:{line}: {msg}")

    def on_file_open(self, is_system_include: bool, includepath: str) -> Any:
        if is_system_include:
            name = os.path.relpath(includepath).replace(os.sep, "/")
            if name in _STANDARD:
                return io.StringIO("")
            raise GenError(
                f"{self.where()}: #include <{name}>: this system header is not one the generator has a stand-in "
                "for. Feed it headers that include only the C standard library's, or add it to gen/preprocess.py."
            )
        return io.StringIO(self.read(includepath))

    def read(self, path: str) -> str:
        data = Path(path).read_bytes()
        self.hashes[_base(path)] = hashlib.sha256(data).hexdigest()
        # A BOM and Windows line ends are common in archives that were unpacked on Windows.
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
        self.texts[_base(path)] = text
        return text

    def on_include_not_found(self, is_malformed: bool, is_system: bool, curdir: str, path: str) -> None:
        if is_malformed:
            raise GenError(f"{self.where()}: malformed #include {path}")
        raise GenError(f'{self.where()}: #include "{path}": no such file beside the header')

    def on_directive_handle(self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]) -> Any:
        name = toks[0].value if toks else ""
        if directive.value in ("define", "undef") and name in _PLATFORM:
            raise OutputDirective(Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]) -> Any:
        if directive.value == "pragma":
            return None  # the next stage reads it
        if directive.value == "warning":
            return True
        text = " ".join(t.value for t in toks).strip()
        raise UnsupportedConstruct(Coord(_base(directive.source), directive.lineno), f"#{directive.value} {text}")

    def where(self) -> str:
        return _base(self.source) if getattr(self, "source", None) else "header"


def preprocess(paths: list[Path]) -> Preprocessed:
    """Read header files in order, each once, with what they include beside them.

    Raises:
        GenError: a file is missing, a directive is malformed, or an include cannot be resolved.
    """
    for path in paths:
        if not path.is_file():
            raise GenError(f"no such header: {path}")
    pp = _Preprocessor()
    pp.parse("".join(f'#include "{path.resolve().as_posix()}"\n' for path in paths), "")
    return _collect(pp)


def preprocess_text(text: str, name: str = "header.h") -> Preprocessed:
    """The same for a header that is at hand as text."""
    pp = _Preprocessor()
    pp.texts[name] = text
    pp.hashes[name] = hashlib.sha256(text.encode()).hexdigest()
    pp.parse(text, name)
    return _collect(pp)


def _collect(pp: _Preprocessor) -> Preprocessed:
    tokens = list(_tokens(pp))
    macros = {
        name: Macro(
            name,
            "".join(t.value for t in macro.value).strip(),
            macro.arglist is not None,
            Coord(_base(macro.source), macro.lineno),
        )
        for name, macro in pp.macros.items()
        if name not in pp.builtin and getattr(macro, "source", None)
    }
    return Preprocessed(tokens, macros, pp.texts, pp.hashes)


def _tokens(pp: _Preprocessor) -> Iterator[Token]:
    spaces = pp.t_WS
    while (token := pp.token()) is not None:
        if token.type not in spaces and token.value.strip():
            yield Token(token.value, Coord(_base(token.source), token.lineno))


def _base(path: str | None) -> str:
    return os.path.basename(path or "") or "header.h"
