"""Second stage: compiler extensions out of the token stream, before pycparser, which reads standard C, sees it.

What changes no layout is dropped by name. What changes one (packing) or a call (its convention) is turned into a mark.
Everything else is refused: an attribute that nobody listed may mean anything.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .attributes import attribute_names
from .errors import Coord, UnsupportedConstruct
from .extensions import CONVENTIONS, DROPPED, HARMLESS, KEYWORDS, REFUSED, RENAMED
from .lexer import Token
from .packing import PACK_MARK, Packing

__all__ = ["Normalised", "normalise"]

_ATTRIBUTES = {"__attribute__", "__attribute", "__declspec", "_declspec"}
_ASSERTIONS = {"_Static_assert", "static_assert"}
_OTHERS = {"[", "{", "}", "extern", "_Pragma", "__pragma"}
_SPECIAL = {*_ATTRIBUTES, *_ASSERTIONS, *_OTHERS, *CONVENTIONS, *DROPPED, *REFUSED, *RENAMED}


@dataclass
class Normalised:
    """Tokens of standard C.

    A function pointer declared ``(__stdcall *name)`` comes out as ``(* restrict name)``: ``restrict`` has no other
    meaning on a pointer to a function, and ordinary uses of it are dropped. Functions that are declared ``__stdcall``
    themselves are in ``stdcall``, by name and place. A packed record has `PACK_MARK` as its first member.
    """

    tokens: list[Token]
    stdcall: set[tuple[str, Coord]] = field(default_factory=set)


def normalise(tokens: list[Token]) -> Normalised:
    """Give pycparser standard C.

    Raises:
        UnsupportedConstruct: an attribute, pragma or word whose effect is not known.
    """
    return _Normaliser(tokens).run()


class _Normaliser:
    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0
        self.out: list[Token] = []
        self.stdcall: set[tuple[str, Coord]] = set()
        self.packing = Packing()
        self.braces: list[int | None] = []  # for each open brace, where in ``out`` its record body starts
        self.closed: int | None = None  # the record body that the last token closed
        self.pending: Token | None = None  # packed, between ``struct`` and its brace

    def run(self) -> Normalised:
        tokens, out = self.tokens, self.out
        while self.at < len(tokens):
            token = tokens[self.at]
            text = token.text
            if text in _SPECIAL or text[0] == "#":
                self.special(token, text)
            else:
                self.at += 1
                self.closed = None
                if self.pending is not None:
                    self.await_brace(text)
                out.append(token)
        self.packing.finish()
        return Normalised(out, self.stdcall)

    def special(self, token: Token, text: str) -> None:
        self.at += 1
        if text[0] == "#":
            self.packing.pragma(text[1:], token.coord, inside=bool(self.braces))
        elif text in DROPPED:
            return
        elif text in CONVENTIONS:
            self.convention(CONVENTIONS[text], token)
        elif text in _ATTRIBUTES or text + self.peek() == "[[":
            self.attributes(token)
        elif text in RENAMED:
            self.out += [Token(word, token.coord) for word in RENAMED[text]]
        elif text in REFUSED:
            raise UnsupportedConstruct(token.coord, text, REFUSED[text])
        elif text in _ASSERTIONS:
            self.group()
            self.at += self.peek() == ";"
        elif text in ("_Pragma", "__pragma"):
            self.pragma_operator(token)
        elif text == "extern" and self.peek().endswith('"'):
            raise UnsupportedConstruct(token.coord, f"extern {self.peek()}", "this is C++: put it under __cplusplus")
        else:
            self.plain(token, text)

    def plain(self, token: Token, text: str) -> None:
        """A bracket, a brace, or ``extern``."""
        self.closed = None
        if text == "{" and not self.braces and self.out and self.out[-1].text in (")", ";"):
            self.body(token)
            return
        self.out.append(token)
        if text == "{":
            self.open_brace(token.coord)
        elif text == "}" and self.braces:
            self.closed = self.braces.pop()

    def pragma_operator(self, token: Token) -> None:
        words = "".join(f"{inner.text} " for inner in self.group())
        if token.text == "_Pragma":
            words = words.strip().removeprefix("L").strip('"').replace('\\"', '"')
        self.packing.pragma(f"pragma {words}", token.coord, inside=bool(self.braces))

    def peek(self, ahead: int = 0) -> str:
        at = self.at + ahead
        return self.tokens[at].text if at < len(self.tokens) else ""

    # Braces: a packed mark has to land inside the record that it belongs to.

    def body(self, token: Token) -> None:
        """A function's body: nothing in it is bound."""
        self.at -= 1
        self.group("{", "}")
        self.out += [token, Token("}", token.coord)]

    def open_brace(self, coord: Coord) -> None:
        record = bool({"struct", "union"} & {token.text for token in self.out[-3:-1]})
        pack = 1 if self.pending is not None else self.packing.now
        self.pending = None
        self.braces.append(len(self.out) if record else None)
        if record and pack is not None:
            self.mark(len(self.out), pack, coord)

    def mark(self, where: int, pack: int, coord: Coord) -> None:
        self.out.insert(where, Token(f"#pragma {PACK_MARK} {pack}", coord))

    # Attributes.

    def group(self, opening: str = "(", closing: str = ")") -> list[Token]:
        """The tokens of the balanced brackets at the cursor, without them."""
        before = self.tokens[self.at - 1]
        if self.peek() != opening:
            raise UnsupportedConstruct(before.coord, before.text, f"no {opening} follows it")
        depth, start = 0, self.at + 1
        while self.at < len(self.tokens):
            text = self.tokens[self.at].text
            depth += (text == opening) - (text == closing)
            self.at += 1
            if depth == 0:
                return self.tokens[start : self.at - 1]
        raise UnsupportedConstruct(self.tokens[start - 1].coord, opening, "it is never closed")

    def attributes(self, token: Token) -> None:
        """``__attribute__((...))``, ``__declspec(...)`` or ``[[...]]``."""
        if token.text == "[":
            self.at -= 1
            inner = self.group("[", "]")[1:-1]
        else:
            inner = self.group()
            if inner and inner[0].text == "(" and token.text.startswith("__attribute"):
                inner = inner[1:-1]
        for vendor, name in attribute_names(inner):
            if name in ("stdcall", "cdecl"):
                self.convention(name, token)
            elif name == "packed" and (vendor == "gnu" or token.text.startswith("__attribute")):
                self.packed(token)
            elif name not in HARMLESS:
                construct = f"[[{name}]]" if token.text == "[" else f"{token.text}({name})"
                why = "it may change the layout, and ctypes has no way to say so on every supported Python"
                raise UnsupportedConstruct(token.coord, construct, why)

    def packed(self, at: Token) -> None:
        if self.closed is not None and at.text != "[":
            self.mark(self.closed, 1, at.coord)
        elif self.out and self.out[-1].text in ("struct", "union"):
            self.pending = at
        else:
            raise UnsupportedConstruct(at.coord, "packed", "it is understood on a whole struct only")

    def await_brace(self, text: str) -> None:
        """What stands between ``struct packed`` and the brace: a tag or nothing."""
        assert self.pending is not None
        if not text.isidentifier() or self.out[-1].text not in ("struct", "union"):
            raise UnsupportedConstruct(self.pending.coord, "packed", "it is understood where the members follow only")

    # Calling conventions.

    def convention(self, name: str, at: Token) -> None:
        if name == "cdecl":
            return
        while self.peek() in DROPPED:
            self.at += 1
        before = self.out[-1].text if self.out else ""
        following, after = self.peek(), self.peek(1)
        if following == "*" and before == "(":
            self.out += [self.tokens[self.at], Token("restrict", at.coord)]
            self.at += 1
        elif _is_name(following) and (after == "(" or (before, after) == ("(", ")")):
            self.stdcall.add((following, self.tokens[self.at].coord))
        else:
            word = at.text if at.text in CONVENTIONS else f"{at.text}({name})"
            raise UnsupportedConstruct(at.coord, f"{word} before {following!r}", "what it applies to is not clear")


def _is_name(text: str) -> bool:
    return text.isidentifier() and text not in KEYWORDS
