"""First stage: header files to one stream of C tokens, through pcpp. No compiler and no system header is needed."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pcpp
from pcpp.parser import Action, OutputDirective

from .errors import Coord, GenError, UnsupportedConstruct
from .expansion import Expander
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
    return _result(pp, pp.stream(pp.texts[name], name))


def _result(pp: _Preprocessor, tokens: list[Token]) -> Preprocessed:
    macros = {name: pp.macro(name) for name in list(pp.macros) if name not in pp.builtin}
    return Preprocessed(tokens, macros, pp.texts, pp.hashes)


class _Preprocessor(pcpp.Preprocessor):  # type: ignore[misc]
    """pcpp with its hooks turned into errors, so that nothing is passed over in silence."""

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
        self.expander = Expander(self.macros, self.refuse_varying)
        for name, value in MACROS.items():
            self.define(f"{name} {value}")
        self.builtin = set(self.macros)

    # Reading.

    def file(self, path: Path) -> list[Token]:
        """The tokens of a header; none where it was read before."""
        path = path.resolve()
        if self.paths.get(path.name) == path:
            return []
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

    def stream(self, text: str, source: str) -> list[Token]:
        found: list[Token] = []
        coord = Coord("", 0)
        tokens = self.parsegen(text, source, source)
        try:
            for token in tokens:
                if token.type == "CPP_WS":
                    continue
                if token.lineno != coord.line or token.source != coord.file:
                    coord = Coord(token.source, token.lineno)
                text = _pragma(tokens, coord) if token.value == "#" else token.value
                found.append(Token(text, coord))
        except IndexError as error:  # pcpp looks for a word that is not there
            raise GenError(f"{self.where()}: malformed #{self.lastdirective.value}") from error
        except RecursionError as error:
            raise GenError(f"{PurePath(source).name}: macro calls are nested too deeply to be read") from error
        return found

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
        return self.expander.expand(tokens)

    def refuse_varying(self, token: PPToken) -> None:
        if token.value in self.varying and not self.evaluating:
            coord = Coord(token.source, token.lineno)
            raise UnsupportedConstruct(coord, token.value, "platforms define this macro differently")

    def macro_prescan(self, macro: Any) -> None:
        """Nothing: the expander prepares macros itself, and only those that are used."""

    def macro(self, name: str) -> Macro:
        """A macro as the headers leave it."""
        macro = self.macros[name]
        coord = Coord(macro.source, macro.lineno)
        if macro.arglist is not None:
            return Macro(name, None, True, coord, "it takes arguments")
        if name in self.varying:
            return Macro(name, None, False, coord, "platforms define it differently")
        try:
            body = self.expander.body(name)
        except UnsupportedConstruct as error:
            return Macro(name, None, False, coord, f"{error.construct}: {error.why}")
        except GenError as error:
            return Macro(name, None, False, coord, f"it does not expand: {error}")
        return Macro(name, "".join(token.value for token in body).strip(), False, coord)


def _pragma(tokens: Iterator[PPToken], coord: Coord) -> str:
    """The rest of a pragma: it is one token for the next stage."""
    text = "#"
    for token in tokens:
        if token.value == "\n":
            break
        text += token.value
        if token.type != "CPP_WS" and not text.lstrip("# ").startswith("pragma"):
            raise UnsupportedConstruct(coord, f"#{token.value}", "a directive cannot stand here")
    return text
