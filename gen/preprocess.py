"""First stage: header files to one stream of C tokens, through pcpp. No compiler and no system header is needed."""

from __future__ import annotations

import copy
import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pcpp
from pcpp.parser import Action, OutputDirective

from .errors import Coord, GenError, UnsupportedConstruct
from .lexer import Lexer, PPToken, Token, lines
from .platforms import KNOWN_TO_DIFFER, MARK, mark_differences
from .standard import HEADERS, MACROS

__all__ = ["Macro", "Preprocessed", "Token", "preprocess", "preprocess_text"]


@dataclass(frozen=True)
class Macro:
    """A ``#define`` as the headers leave it. ``function`` is true when it takes arguments.

    ``body`` is what C puts in its place where no further macro is defined; None where that cannot be told, with
    ``why``.
    """

    name: str
    body: str | None
    function: bool
    coord: Coord
    why: str = ""


@dataclass
class Preprocessed:
    tokens: list[Token]
    macros: dict[str, Macro]
    texts: dict[str, str] = field(default_factory=dict)  # file name -> its text, for the comments
    hashes: dict[str, str] = field(default_factory=dict)  # file name -> sha256 of its bytes


def preprocess(paths: list[Path]) -> Preprocessed:
    """Read header files in order, each once, with what they include beside them.

    Raises:
        GenError: a file is missing, a directive is malformed, or an include cannot be resolved.
    """
    for path in paths:
        if not path.is_file():
            raise GenError(f"no such header: {path}")
    pp = _Preprocessor()
    tokens = [token for path in paths for token in pp.file(path)]
    return _result(pp, tokens)


def preprocess_text(text: str, name: str = "header.h") -> Preprocessed:
    """The same for a header that is at hand as text; it can include standard headers only."""
    pp = _Preprocessor()
    pp.keep(name, text.encode("utf-8", "surrogateescape"))
    return _result(pp, list(pp.stream(pp.texts[name], name)))


def _result(pp: _Preprocessor, tokens: list[Token]) -> Preprocessed:
    macros = {name: pp.macro(name) for name in list(pp.macros) if name not in pp.builtin}
    return Preprocessed(tokens, macros, pp.texts, pp.hashes)


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp with its hooks turned into errors, so that nothing is passed over in silence."""

    stringizing = False  # is there a macro that turns an argument into a string, blanks and all?

    def __init__(self) -> None:
        super().__init__(Lexer())
        self.line_directive = None
        self.expand_linemacro = self.expand_filemacro = self.expand_countermacro = False
        self.macros.clear()  # __DATE__, __TIME__
        self.texts: dict[str, str] = {}
        self.hashes: dict[str, str] = {}
        self.paths: dict[str, Path] = {}  # file name -> where it was read
        self.differing: set[str] = set()  # macros that platforms define differently, live or not
        self.varying: set[str] = set()  # those that are live
        self.evaluating = False
        self.last_coord = Coord("", 0)
        for name, value in MACROS.items():
            self.define(f"{name} {value}")
        self.builtin = set(self.macros)

    # Reading.

    def file(self, path: Path) -> Iterator[Token]:
        """The tokens of a header; none where it was read before."""
        path = path.resolve()
        if self.paths.get(path.name) == path:
            return iter(())
        text = self.read(path)
        self.temp_path = [str(path.parent)]
        return self.stream(text, str(path))

    def read(self, path: Path) -> str:
        before = self.paths.setdefault(path.name, path)
        if before != path:
            raise GenError(f"two headers are called {path.name}: {before} and {path}. Give one another name")
        return self.keep(path.name, path.read_bytes())

    def keep(self, name: str, data: bytes) -> str:
        if b"\0" in data:
            raise GenError(f"{name} is no text that C can be: it holds NUL bytes (UTF-16?). Save it as UTF-8")
        self.hashes[name] = hashlib.sha256(data).hexdigest()
        # A BOM and Windows line ends are common in archives that were unpacked on Windows, and other encodings in
        # comments: where a byte that is no UTF-8 stands elsewhere, the token is refused.
        text = data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
        self.texts[name] = text
        return text

    def stream(self, text: str, source: str) -> Iterator[Token]:
        tokens = self.parsegen(text, source, source)
        while True:
            try:
                token = next(tokens, None)
            except IndexError as error:  # pcpp looks for a word that is not there
                raise GenError(f"{self.where()}: malformed #{self.lastdirective.value}") from error
            if token is None:
                return
            if token.type != "CPP_WS":
                yield self.pragma(token, tokens) if token.value == "#" else Token(token.value, self.coord(token))

    def pragma(self, first: PPToken, tokens: Iterator[PPToken]) -> Token:
        """A pragma as one token."""
        text = "#"
        for token in tokens:
            if "\n" in token.value:
                break
            text += token.value
        return Token(text, self.coord(first))

    def coord(self, token: PPToken) -> Coord:
        if (token.source, token.lineno) != self.last_coord:
            self.last_coord = Coord(token.source, token.lineno)
        return self.last_coord

    def where(self) -> Coord:
        """The last directive that was met."""
        return Coord(self.lastdirective.source, self.lastdirective.lineno)

    # What pcpp calls.

    def group_lines(self, input: str, abssource: str) -> list[list[PPToken]]:
        name = PurePath(abssource).name
        # pcpp has replaced trigraphs in its input; no compiler does by default, and C23 has none.
        return mark_differences(lines(self.texts[name], name), self.differing)

    def include(self, tokens: list[PPToken], original_line: list[PPToken]) -> Iterator[PPToken]:
        if self.include_depth > 100:
            raise GenError(f"{self.where()}: headers include one another without an end")
        if tokens and tokens[0].type == "CPP_STRING" and not self.temp_path:  # pcpp would look in the current folder
            self.on_include_not_found(False, False, "", tokens[0].value[1:-1])
        if not tokens or tokens[0].value != "<":
            return super().include(tokens, original_line)  # type: ignore[no-any-return]
        name = "".join(token.value for token in tokens[1:]).partition(">")[0]
        if name not in HEADERS:
            raise GenError(
                f"{self.where()}: #include <{name}>: the generator has no stand-in for this system header. "
                "Feed it headers that include only the C standard library's, or add it to gen/standard.py."
            )
        return iter(())

    def on_file_open(self, is_system_include: bool, includepath: str) -> Any:
        return io.StringIO(self.read(Path(includepath).resolve()))

    def on_include_not_found(self, is_malformed: bool, is_system: bool, curdir: str, path: str) -> None:
        if is_malformed:
            raise GenError(f"{self.where()}: malformed #include {path}")
        if path in HEADERS:
            raise OutputDirective(Action.IgnoreAndRemove)
        raise GenError(f'{self.where()}: #include "{path}": no such file beside the header')

    def on_error(self, file: str, line: int, msg: str) -> None:
        raise GenError(f"{Coord(file, line)}: {msg.strip()}")

    def on_directive_handle(self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]) -> Any:
        name = toks[0].value if toks else ""
        if directive.value in ("define", "undef") and name in KNOWN_TO_DIFFER:
            self.lastdirective = directive
            raise OutputDirective(Action.IgnoreAndRemove)
        return super().on_directive_handle(directive, toks, ifpassthru, precedingtoks)

    def on_directive_unknown(self, directive: Any, toks: list[Any], ifpassthru: bool, precedingtoks: list[Any]) -> Any:
        words = [token.value for token in toks if token.type != "CPP_WS"]
        coord = Coord(directive.source, directive.lineno)
        if directive.value == "pragma":
            if words[:1] != [MARK]:
                return None  # the next stage reads it
            if not words[1:]:
                why = "its branches declare different things, and the snapshot is for all platforms"
                raise UnsupportedConstruct(coord, "#if that asks for the platform", why)
            self.varying.update(words[1:])
            return True
        if directive.value == "warning":
            return True
        why = "the header refuses to be read" if directive.value == "error" else "this directive is not understood"
        raise UnsupportedConstruct(coord, f"#{directive.value} {' '.join(words)}".strip(), why)

    def on_unknown_macro_function_in_expr(self, ident: str) -> Any:
        if ident.startswith("__has_"):
            return lambda _argument: 0
        raise SyntaxError(f"{ident} is not defined")

    def evalexpr(self, tokens: list[PPToken]) -> Any:
        self.evaluating = True  # a macro that differs by platform has been dealt with by its mark
        try:
            return super().evalexpr(tokens)
        finally:
            self.evaluating = False

    def expand_macros(self, tokens: list[PPToken], expanding_from: Sequence[str] = ()) -> list[PPToken]:
        """pcpp's, without its cost where little is to be done: it copies and shifts lists for every token."""
        macros = self.macros
        found = [token for token in tokens if token.value in macros]
        if not found:
            return tokens
        if self.varying and not self.evaluating:
            self.refuse_varying(found)
        if all(not macros[token.value].value and macros[token.value].arglist is None for token in found):
            return [token for token in tokens if token.value not in macros]
        if expanding_from or len(tokens) < 200:
            return super().expand_macros(tokens, list(expanding_from))  # type: ignore[no-any-return]
        if not self.stringizing:
            tokens = [token for token in tokens if token.type != "CPP_WS"]
        return [token for part in _statements(tokens) for token in self.expand_macros(part)]

    def define(self, tokens: Any) -> None:
        super().define(tokens)
        name = tokens.partition(" ")[0].partition("(")[0] if isinstance(tokens, str) else tokens[0].value
        self.stringizing |= bool(getattr(self.macros[name], "str_patch", ()))

    def refuse_varying(self, found: list[PPToken]) -> None:
        for token in found:
            if token.value in self.varying:
                raise UnsupportedConstruct(self.coord(token), token.value, "platforms define this macro differently")

    def macro(self, name: str) -> Macro:
        """A macro as the headers leave it."""
        macro = self.macros[name]
        coord = Coord(macro.source, macro.lineno)
        if macro.arglist is not None:
            return Macro(name, None, True, coord, "it takes arguments")
        if name in self.varying:
            return Macro(name, None, False, coord, "platforms define it differently")
        try:
            body = self.expand_macros([copy.copy(token) for token in macro.value], [name])
        except UnsupportedConstruct as error:
            return Macro(name, None, False, coord, f"{error.construct}: {error.why}")
        except GenError as error:
            return Macro(name, None, False, coord, f"it does not expand: {error}")
        return Macro(name, "".join(token.value for token in body).strip(), False, coord)


def _statements(tokens: list[PPToken]) -> Iterator[list[PPToken]]:
    """Parts that no macro call crosses: each ends with a semicolon that stands in no parentheses."""
    start = depth = 0
    for at, token in enumerate(tokens):
        value = token.value
        if value == "(":
            depth += 1
        elif value == ")":
            depth -= 1
        elif value == ";" and depth <= 0:
            yield tokens[start : at + 1]
            start, depth = at + 1, 0
    yield tokens[start:]
