"""What a header says differently for each platform.

A snapshot is for all platforms at once, and the preprocessor sees one branch of ``#ifdef _WIN32``. So every such
conditional is looked at as it is written: where its branches declare the same, nothing is lost; where they do not, a
mark goes into the stream, which the preprocessor meets only if the place is alive for C at all.
"""

from __future__ import annotations

from collections.abc import Iterable

from .errors import Coord, UnsupportedConstruct
from .lexer import PPToken, Token, directive
from .normalise import normalise

__all__ = ["KNOWN_TO_DIFFER", "MARK", "mark_differences"]

#: ``#pragma ortcache_platform``: what follows it are macros that platforms define differently. Without any, the
#: declarations differ.
MARK = "ortcache_platform"

#: Macros whose difference the later stages know.
KNOWN_TO_DIFFER = frozenset({"ORTCHAR_T", "ORT_API_CALL"})

#: Macros that tell platforms apart, and how the names of others begin.
_PLATFORM = frozenset({
    "WIN32", "WIN64", "_WIN16", "_WIN32", "_WIN64", "__WIN32__", "__WIN64__", "__CYGWIN__", "__APPLE__", "__MACH__",
    "linux", "unix", "i386", "LONG_MIN", "LONG_MAX", "ULONG_MAX", "LONG_BIT", "LONG_WIDTH", "INTPTR_MIN",
    "INTPTR_MAX", "UINTPTR_MAX", "PTRDIFF_MIN", "PTRDIFF_MAX", "SIZE_MAX", "SSIZE_MAX", "WCHAR_MIN", "WCHAR_MAX",
    "WINT_MIN", "WINT_MAX", "CHAR_MIN", "CHAR_MAX", "_LP64", "__LP64__", "_ILP32", "__ILP32__", "__CHAR_UNSIGNED__",
    "__WORDSIZE", "__QNX__", "__has_attribute", "__has_builtin", "__has_extension", "__has_feature",
})  # fmt: skip
_PREFIXES = (
    "_WIN32_", "_MSC_", "_M_", "__MINGW", "__GNUC", "__clang", "__INTEL_", "TARGET_OS_", "TARGET_CPU_", "__ANDROID",
    "__linux", "__unix", "__sun", "__FreeBSD", "__OpenBSD", "__NetBSD", "__DragonFly", "__QNX", "__EMSCRIPTEN",
    "__wasm", "__x86_64", "__amd64", "__i386", "__i486", "__i586", "__i686", "__arm", "__ARM", "__aarch64", "__powerpc",
    "__ppc", "__riscv", "__s390", "__mips", "__loongarch", "__SIZEOF_", "__BYTE_ORDER", "__ORDER_", "__BIG_ENDIAN",
    "__LITTLE_ENDIAN", "__WCHAR_",
)  # fmt: skip


_Meaning = tuple[str, ...]


class _Branch:
    """What one branch declares: its text, and the meanings that it gives to macros (None: no definition)."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.macros: dict[str, set[_Meaning | None]] = {}
        self.refused = False  # by #error


class _Conditional:
    """A conditional that is still open."""

    def __init__(self, start: int, differs: bool) -> None:
        self.start = start  # where its #if stands among the groups
        self.differs = differs  # does a condition of it ask for the platform?
        self.branches = [_Branch()]
        self.closed = False  # by #else


def mark_differences(groups: list[list[PPToken]], known: set[str]) -> list[list[PPToken]]:
    """The groups of one file, with a mark before each conditional whose branches differ by platform.

    Args:
        groups: what `lines` gave.
        known: macros that are already known to differ; what is found is added.
    """
    out: list[list[PPToken]] = []
    stack = [_Conditional(0, False)]
    for group in groups:
        name, words = directive(group)
        if name in ("if", "ifdef", "ifndef"):
            stack.append(_Conditional(len(out), _asks(words, known)))
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
    return any(name in known or name in _PLATFORM or name.startswith(_PREFIXES) for name in names)


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
        if len(values) > 1 and name not in KNOWN_TO_DIFFER and not _is_annotation(name)
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
        after = _is_annotation(word)
        if not after:
            kept.append(word)
    return kept


def _is_annotation(word: str) -> bool:
    """Is it one of Microsoft's notes in the source, as _In_ and _Success_? They say nothing about a type."""
    return len(word) > 2 and word[0] == word[-1] == "_" and word[1].isupper()


def _pragma(names: list[str], at: PPToken) -> list[PPToken]:
    words = ["#", "pragma", " ", MARK, *(part for name in names for part in (" ", name)), "\n"]
    kinds = {"#": "CPP_POUND", " ": "CPP_WS", "\n": "CPP_WS"}
    return [PPToken(kinds.get(word, "CPP_ID"), word, at.lineno, at.source) for word in words]
