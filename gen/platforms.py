"""What a header says differently for each platform.

A snapshot is for all platforms at once, and the preprocessor sees one branch of ``#ifdef _WIN32``. So every such
conditional is looked at as it is written: where its branches declare the same, nothing is lost; where they do not, a
mark goes into the stream, which the preprocessor meets only if the place is alive for C at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from .errors import Coord, UnsupportedConstruct
from .lexer import PPToken, Token, directive
from .normalise import normalise

__all__ = ["KNOWN_TO_DIFFER", "MARK", "mark_differences"]

#: ``#pragma ortcache_platform``: what follows it are macros that platforms define differently. Without any, the
#: declarations differ.
MARK = "ortcache_platform"

#: Macros whose difference the later stages know.
KNOWN_TO_DIFFER = frozenset({"ORTCHAR_T", "ORT_API_CALL"})

_PLATFORM = re.compile(
    r"_?_?(WIN(16|32|64)|linux|unix|i386|arm|sun)(_?_)?|_WIN(32|64)_\w+|_M_\w+|_MSC_\w+|__MINGW\w+|__CYGWIN__|__GNUC\w*|"
    r"__clang\w*|__INTEL_\w+|__APPLE__|__MACH__|TARGET_(OS|CPU)_\w+|__ANDROID\w*|__\w+BSD__|__QNX\w*|__EMSCRIPTEN\w*|"
    r"__wasm\w*|__(x86_64|amd64|i[3-6]86|arm64|aarch64|powerpc|ppc|riscv|s390x?|mips|loongarch)\w*|__ARM_\w+|"
    r"_?_?I?LP(32|64)(__)?|__SIZEOF_\w+|__\w*ENDIAN\w*|__BYTE_ORDER\w*|__CHAR_UNSIGNED__|__WCHAR_\w+|__WORDSIZE|"
    r"(U?LONG|U?INTPTR|PTRDIFF|S?SIZE|WCHAR|WINT|CHAR)_(MIN|MAX|WIDTH|BIT)|__has_(attribute|builtin|extension|feature)"
)

#: Microsoft's source annotations: they say nothing about a type.
_ANNOTATION = re.compile(r"_[A-Z][A-Za-z0-9_]*_")

_Meaning = tuple[str, ...]


@dataclass
class _Branch:
    """What one branch declares: its text, and the meanings that it gives to macros (None: no definition)."""

    text: list[str] = field(default_factory=list)
    macros: dict[str, set[_Meaning | None]] = field(default_factory=dict)
    refused: bool = False  # by #error


@dataclass
class _Conditional:
    start: int  # where its #if stands among the groups
    differs: bool  # does a condition of it ask for the platform?
    branches: list[_Branch]
    closed: bool = False  # by #else


def mark_differences(groups: list[list[PPToken]], known: set[str]) -> list[list[PPToken]]:
    """The groups of one file, with a mark before each conditional whose branches differ by platform.

    Args:
        groups: what `lines` gave.
        known: macros that are already known to differ; what is found is added.
    """
    out: list[list[PPToken]] = []
    stack = [_Conditional(0, False, [_Branch()])]
    for group in groups:
        name, words = directive(group)
        if name in ("if", "ifdef", "ifndef"):
            stack.append(_Conditional(len(out), _asks(words, known), [_Branch()]))
        elif name in ("elif", "else") and len(stack) > 1:
            stack[-1].differs |= _asks(words, known)
            stack[-1].closed |= name == "else"
            stack[-1].branches.append(_Branch())
        elif name == "endif" and len(stack) > 1:
            conditional = stack.pop()
            mark = _close(conditional, stack[-1].branches[-1], known)
            if mark is not None:
                out.insert(conditional.start, _pragma(mark, out[conditional.start][0]))
        else:
            _collect(stack[-1].branches[-1], group, name, words)
        out.append(group)
    return out


def _asks(words: list[PPToken], known: set[str]) -> bool:
    names = {word.value for word in words}
    if "__cplusplus" in names and "||" not in names:
        return False  # for C it is false on every platform
    return any(name in known or _PLATFORM.fullmatch(name) for name in names)


def _collect(branch: _Branch, group: list[PPToken], name: str, words: list[PPToken]) -> None:
    if not name:
        branch.text += [token.value for token in group if token.type != "CPP_WS"]
    elif name == "define" and words:
        branch.macros[words[0].value] = {_meaning(word.value for word in words[1:])}
    elif name == "undef" and words:
        branch.macros[words[0].value] = {None}
    elif name == "error":
        branch.refused = True
    elif name == "include" and words and words[0].type == "CPP_STRING":
        branch.text += ["#include", words[0].value]
    elif name == "pragma" and words and words[0].value == "pack":
        branch.text += ["#pragma", *(word.value for word in words)]


def _close(conditional: _Conditional, parent: _Branch, known: set[str]) -> list[str] | None:
    """Fold a conditional into the branch around it; the mark that it needs, or None for none."""
    branches = conditional.branches + ([] if conditional.closed else [_Branch()])
    branches = [branch for branch in branches if not branch.refused] or branches
    names = {name for branch in branches for name in branch.macros}
    meanings = {name: set[_Meaning | None]().union(*(b.macros.get(name, {None}) for b in branches)) for name in names}
    for name, values in meanings.items():
        parent.macros[name] = values | (parent.macros.get(name, set()) if None in values else set())
    for branch in branches:
        parent.text += branch.text
    if not conditional.differs:
        return None
    if len({_meaning(branch.text) for branch in branches}) > 1:
        return []
    varying = sorted(
        name
        for name, values in meanings.items()
        if len(values) > 1 and name not in KNOWN_TO_DIFFER and not _ANNOTATION.fullmatch(name)
    )
    known.update(varying)
    return varying or None


def _meaning(words: Iterable[str]) -> _Meaning:
    """The words without what changes no type and no call."""
    kept = _without_annotations(words)
    where = Coord("", 0)
    try:
        return tuple(token.text for token in normalise([Token(word, where) for word in kept]).tokens)
    except UnsupportedConstruct:
        return tuple(kept)


def _without_annotations(words: Iterable[str]) -> list[str]:
    kept: list[str] = []
    depth = 0
    after = False  # an annotation stands right before
    for word in words:
        if depth or (after and word == "("):
            depth += {"(": 1, ")": -1}.get(word, 0)
            after = False
            continue
        after = _ANNOTATION.fullmatch(word) is not None
        if not after:
            kept.append(word)
    return kept


def _pragma(names: list[str], at: PPToken) -> list[PPToken]:
    words = ["#", "pragma", " ", MARK, *(part for name in names for part in (" ", name)), "\n"]
    kinds = {"#": "CPP_POUND", " ": "CPP_WS", "\n": "CPP_WS"}
    return [PPToken(kinds.get(word, "CPP_ID"), word, at.lineno, at.source) for word in words]
