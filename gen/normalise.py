"""Second stage: compiler extensions out of the token stream, before pycparser, which reads standard C, sees it.

What changes no layout is dropped by name. What changes one (packing, a calling convention) is turned into a mark
that standard C can carry. Everything else is refused: an attribute nobody listed here may mean anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .errors import Coord, UnsupportedConstruct
from .preprocess import Token

__all__ = ["PACK_MARK", "Normalised", "normalise"]

#: ``#pragma ortcache_pack N``: the first thing inside the braces of a packed record.
PACK_MARK = "ortcache_pack"

#: Attributes that say something to an optimiser or a linter and nothing about layout.
_HARMLESS = {
    "access", "alloc_align", "alloc_size", "always_inline", "availability", "cold", "const", "deprecated", "dllexport",
    "dllimport", "format", "format_arg", "hot", "leaf", "malloc", "maybe_unused", "no_instrument_function", "nodiscard",
    "noexcept", "noinline", "nonnull", "noreturn", "nothrow", "novtable", "pure", "returns_nonnull", "selectany",
    "sentinel", "unavailable", "unused", "used", "visibility", "warn_unused_result", "weak",
}  # fmt: skip

_DROPPED = {
    "__extension__", "__inline", "__inline__", "inline", "__restrict", "__restrict__", "restrict", "_Noreturn",
    "register", "auto", "__volatile__", "volatile", "_Nonnull", "_Nullable", "_Null_unspecified",
}  # fmt: skip

_RENAMED = {"__const": "const", "__const__": "const", "__signed__": "signed", "static_assert": "_Static_assert"}

_CONVENTIONS = {
    "ORT_API_CALL": "stdcall", "__stdcall": "stdcall", "_stdcall": "stdcall", "__stdcall__": "stdcall",
    "WINAPI": "stdcall", "stdcall": "stdcall",
    "__cdecl": "cdecl", "_cdecl": "cdecl", "__cdecl__": "cdecl", "cdecl": "cdecl",
}  # fmt: skip

_REFUSED_CONVENTIONS = {"__fastcall", "_fastcall", "__vectorcall", "__thiscall", "__regcall", "__pascal"}

_HARMLESS_PRAGMAS = {"once", "warning", "GCC", "clang", "region", "endregion", "message", "comment", "mark"}


@dataclass
class Normalised:
    tokens: list[Token]
    stdcall: set[str] = field(default_factory=set)  # functions (not pointers to one) declared __stdcall


def normalise(tokens: list[Token]) -> Normalised:
    """Give pycparser standard C.

    A function pointer declared ``(__stdcall *name)`` comes out as ``(* restrict name)``: ``restrict`` has no other
    meaning on a pointer to a function, and ordinary uses of it are dropped here.

    Raises:
        UnsupportedConstruct: an attribute, pragma or convention whose effect on the layout is not known.
    """
    return _Normaliser(tokens).run()


class _Normaliser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.out: list[Token] = []
        self.stdcall: set[str] = set()
        self.pack: int | None = None
        self.pack_stack: list[int | None] = []
        self.braces: list[int | None] = []  # for each open brace, where in ``out`` its record body starts
        self.closed: int | None = None  # the record body that the last token closed
        self.pending_packed = False  # packed stood between ``struct`` and the brace

    def run(self) -> Normalised:
        while self.at < len(self.tokens):
            self.step()
        return Normalised(self.out, self.stdcall)

    def step(self) -> None:
        token = self.tokens[self.at]
        text = token.text
        if text == "#":
            self.pragma()
        elif text in ("__attribute__", "__attribute"):
            self.attribute(token)
        elif text == "__declspec":
            self.at += 1
            self.names(self.group(), token, "__declspec")
        elif text == "[" and self.peek(1) == "[":
            self.standard_attribute(token)
        elif text in _CONVENTIONS:
            self.at += 1
            self.convention(_CONVENTIONS[text], token)
        elif text in _REFUSED_CONVENTIONS:
            raise UnsupportedConstruct(token.coord, text, "ctypes cannot call functions of this convention")
        elif text in ("__asm__", "__asm", "asm"):
            raise UnsupportedConstruct(token.coord, text, "a symbol renamed by assembler is not looked up")
        elif text in _DROPPED:
            self.at += 1
        else:
            self.at += 1
            self.brace(text)
            self.out.append(Token(_RENAMED.get(text, text), token.coord))
            if text == "{":
                self.open_brace(token.coord)

    def peek(self, ahead: int) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    # Braces, so that a packed mark lands inside the record it belongs to.

    def open_brace(self, coord: Coord) -> None:
        if not self.is_record_brace():
            self.braces.append(None)
            return
        self.braces.append(len(self.out))
        pack = 1 if self.pending_packed else self.pack
        self.pending_packed = False
        if pack is not None:
            self.mark(len(self.out), pack, coord)

    def brace(self, text: str) -> None:
        self.closed = None
        if text == "}" and self.braces:
            self.closed = self.braces.pop()

    def is_record_brace(self) -> bool:
        before = [t.text for t in self.out[-3:-1]]
        return bool(before) and (before[-1] in ("struct", "union") or before[0] in ("struct", "union"))

    def mark(self, where: int, pack: int, coord: Coord) -> None:
        self.out.insert(where, Token(f"#pragma {PACK_MARK} {pack}", coord))

    # Attributes.

    def group(self) -> list[Token]:
        """The tokens of the balanced parentheses at the cursor, without them."""
        if self.at >= len(self.tokens) or self.tokens[self.at].text != "(":
            raise UnsupportedConstruct(self.tokens[self.at - 1].coord, self.tokens[self.at - 1].text, "no ( follows it")
        depth, start = 0, self.at + 1
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text
            depth += {"(": 1, ")": -1}.get(text, 0)
            self.at += 1
            if depth == 0:
                return self.tokens[start : self.at - 1]
        raise UnsupportedConstruct(self.tokens[start - 1].coord, "(", "it is never closed")

    def attribute(self, token: Token) -> None:
        self.at += 1
        inner = self.group()
        if inner and inner[0].text == "(":
            inner = inner[1:-1]
        self.names(inner, token, "__attribute__")

    def standard_attribute(self, token: Token) -> None:
        end = self.at
        while end + 1 < len(self.tokens) and not (self.tokens[end].text == "]" and self.tokens[end + 1].text == "]"):
            end += 1
        inner = [t for t in self.tokens[self.at + 2 : end] if t.text not in ("gnu", "clang", "msvc", ":", "::")]
        self.at = end + 2
        self.names(inner, token, "[[ ]]")

    def names(self, inner: list[Token], at: Token, spelling: str) -> None:
        depth = 0
        for i, token in enumerate(inner):
            if token.text in "()":
                depth += 1 if token.text == "(" else -1
            elif depth == 0 and token.text != ",":
                name = token.text.strip("_") if token.text.startswith("__") else token.text
                arguments = i + 1 < len(inner) and inner[i + 1].text == "("
                self.one_attribute(name, arguments, at, spelling)

    def one_attribute(self, name: str, arguments: bool, at: Token, spelling: str) -> None:
        if name in ("stdcall", "cdecl"):
            self.convention(_CONVENTIONS[name], at)
        elif name == "packed" and not arguments:
            self.packed(at)
        elif name not in _HARMLESS:
            why = "it may change the layout, and ctypes has no way to say so on every supported Python"
            raise UnsupportedConstruct(at.coord, f"{spelling}(({name}))", why)

    def packed(self, at: Token) -> None:
        if self.closed is not None:
            self.mark(self.closed, 1, at.coord)
        elif self.out and self.out[-1].text in ("struct", "union"):
            self.pending_packed = True
        else:
            raise UnsupportedConstruct(at.coord, "__attribute__((packed))", "it is understood on a whole struct only")

    # Calling conventions.

    def convention(self, name: str, at: Token) -> None:
        if name == "cdecl":
            return
        while self.peek(0) in _DROPPED or self.peek(0) in _CONVENTIONS:
            self.at += 1
        following = self.peek(0)
        if following == "*":
            self.out += [self.tokens[self.at], Token("restrict", at.coord)]
            self.at += 1
        elif self.peek(1) in ("(", ")") and following.isidentifier():
            self.stdcall.add(following)
        elif following in (";", ","):  # __attribute__((stdcall)) after the declaration
            raise UnsupportedConstruct(at.coord, "__attribute__((stdcall))", "write it before the name it belongs to")
        else:
            raise UnsupportedConstruct(at.coord, f"{at.text} before {following!r}", "what it applies to is not clear")

    # Pragmas.

    def pragma(self) -> None:
        first = self.tokens[self.at]
        end = self.at
        while end < len(self.tokens) and self.tokens[end].coord == first.coord:
            end += 1
        words = [t.text for t in self.tokens[self.at + 1 : end]]
        self.at = end
        if words[:2] == ["pragma", "pack"]:
            self.pack_pragma([w for w in words[2:] if w not in "(),"], first)
        elif words[:1] == ["pragma"] and (len(words) < 2 or words[1] in _HARMLESS_PRAGMAS):
            return
        else:
            raise UnsupportedConstruct(first.coord, "#" + " ".join(words))

    def pack_pragma(self, words: list[str], at: Token) -> None:
        numbers = [int(w) for w in words if w.isdigit()]
        if [w for w in words if not w.isdigit() and w not in ("push", "pop")]:
            raise UnsupportedConstruct(at.coord, f"#pragma pack({', '.join(words)})", "labels are not followed")
        if "push" in words:
            self.pack_stack.append(self.pack)
        if "pop" in words:
            if not self.pack_stack:
                raise UnsupportedConstruct(at.coord, "#pragma pack(pop)", "nothing was pushed")
            self.pack = self.pack_stack.pop()
        elif numbers:
            self.pack = numbers[0] or None
        elif not words:
            self.pack = None
