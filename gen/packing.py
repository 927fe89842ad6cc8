"""``#pragma pack`` and the pragmas that may be ignored."""

from __future__ import annotations

from .errors import Coord, UnsupportedConstruct
from .extensions import HARMLESS_PRAGMAS
from .lexer import lex

__all__ = ["PACK_MARK", "Packing"]

#: ``#pragma ortcache_pack N``: the first thing inside the braces of a packed record.
PACK_MARK = "ortcache_pack"


class Packing:
    """The packing that pragmas have set: None, or the highest alignment of a member."""

    def __init__(self) -> None:
        self.now: int | None = None
        self._stack: list[tuple[int | None, Coord]] = []

    def pragma(self, text: str, coord: Coord, *, inside: bool) -> None:
        """Take a pragma, ``pragma`` itself and all.

        Raises:
            UnsupportedConstruct: it may change a layout in a way that is not followed here.
        """
        words = [token.value for token in lex(text, coord.file) if token.type != "CPP_WS"]
        if words[:1] != ["pragma"]:
            raise UnsupportedConstruct(coord, f"#{text.strip()}", "a directive cannot stand here")
        if words[1:2] == ["pack"]:
            if inside:
                raise UnsupportedConstruct(coord, f"#{text.strip()}", "compilers differ on what it does inside braces")
            self._pack([word for word in words[2:] if word not in "(),"], coord)
        elif not {" ".join(words[1:2]), " ".join(words[1:3])} & HARMLESS_PRAGMAS and len(words) > 1:
            raise UnsupportedConstruct(coord, f"#{text.strip()}", "it may change a layout")

    def finish(self) -> None:
        """Refuse a push that nothing popped: what comes after the header would be packed as well."""
        for _, coord in self._stack:
            raise UnsupportedConstruct(coord, "#pragma pack(push)", "no pop follows it")

    def _pack(self, words: list[str], coord: Coord) -> None:
        what = f"#pragma pack({', '.join(words)})"
        if words and words[-1].isdigit():
            number: int | None = int(words.pop())
            if number not in (0, 1, 2, 4, 8, 16):
                raise UnsupportedConstruct(coord, what, "it is no alignment that compilers take")
        else:
            number = None
        match words:
            case ["push"]:
                self._stack.append((self.now, coord))
                self.now = number if number is not None else self.now
            case ["pop"] if number is None:
                if not self._stack:
                    raise UnsupportedConstruct(coord, what, "nothing was pushed")
                self.now, _ = self._stack.pop()
            case []:
                self.now = number
            case _:
                raise UnsupportedConstruct(coord, what, "labels and other forms are not followed")
        self.now = self.now or None
