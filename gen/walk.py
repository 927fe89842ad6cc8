"""pycparser's syntax tree to the model, one declaration at a time."""

from __future__ import annotations

from pycparser import c_ast

from .declarators import Declarators, place
from .errors import Coord, UnsupportedConstruct
from .expr import constant, converted
from .model import CType, Header
from .records import Records
from .scope import Scope

__all__ = ["Walker"]


class Walker:
    """Collects the declarations of a translation unit into a `Header`.

    Args:
        stdcall: functions that are declared __stdcall, by name and place.
        base: a header set whose names may be used.
    """

    def __init__(self, stdcall: set[tuple[str, Coord]], base: Header) -> None:
        self.scope = Scope(base)
        self.declarators = Declarators(self.scope, set(stdcall))
        self.records = Records(self.scope, self.declarators)

    @property
    def enumerators(self) -> dict[str, int]:
        return self.scope.enumerators

    def finish(self) -> Header:
        """The header.

        Raises:
            UnsupportedConstruct: something that can be told at the end only.
        """
        for name, coord in sorted(self.declarators.stdcall):
            raise UnsupportedConstruct(coord, f"__stdcall {name}", "what it applies to is not clear")
        return self.scope.finish()

    def declaration(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Typedef():
                self.typedef(node, place(node))
            case c_ast.FuncDef():  # the header's own: nothing that a library exports
                self.declarators.forget(node.decl)
            case c_ast.Decl():
                self.plain(node, place(node))
            case _:
                raise UnsupportedConstruct(place(node), type(node).__name__)

    def typedef(self, node: c_ast.Typedef, coord: Coord) -> None:
        name, target = node.name, node.type
        self.rename(name, target)
        # Behind a pointer the name is the pointer's.
        self.records.define(target, name if isinstance(target, c_ast.TypeDecl) else f"{name}_target")
        if isinstance(target, c_ast.FuncDecl):
            kind = self.declarators.function(target, name, self.declarators.convention(target), coord)
            self.scope.add_function_type(name, kind, coord)
        elif isinstance(target, c_ast.PtrDecl) and isinstance(target.type, c_ast.FuncDecl):
            self.declarators.pointer(target, name, coord)
        else:
            alias = self.declarators.type(target, name, coord)
            function = self.scope.function_type(alias)
            if function is not None:
                self.scope.add_function_type(name, function, coord)
            else:
                self.scope.add_typedef(name, alias, coord)

    def rename(self, name: str, target: c_ast.Node) -> None:
        """``typedef struct _Name Name``: a module cannot show what begins with an underscore, so Name it is."""
        if isinstance(target, c_ast.TypeDecl) and isinstance(target.type, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
            tag = target.type.name
            if tag and tag.startswith("_") and tag not in self.scope.declared:
                self.scope.tags.setdefault(tag, name)

    def plain(self, node: c_ast.Decl, coord: Coord) -> None:
        inner = node.type
        if isinstance(inner, (c_ast.Struct, c_ast.Union, c_ast.Enum)):
            self.records.define(inner, "")
            if id(inner) not in self.declarators.inline:
                self.declarators.mentioned(inner, coord)
        elif isinstance(inner, c_ast.FuncDecl) and "static" in node.storage:
            self.declarators.forget(node)
        elif isinstance(inner, c_ast.FuncDecl):
            self.records.define(inner, f"{node.name}_result")
            kind = self.declarators.function(inner, node.name, self.declarators.convention(inner), coord)
            self.scope.add_function(node.name, kind, coord)
        else:
            self.variable(node, coord)

    def variable(self, node: c_ast.Decl, coord: Coord) -> None:
        """A constant with a name: ``static const``, with its value."""
        target = node.type
        if isinstance(target, c_ast.ArrayDecl) and target.dim is None and node.init is not None:
            target = target.type  # static const char name[] = "..."
        self.records.define(target, f"{node.name}_type")
        kind = self.declarators.type(target, node.name, coord)
        function = self.scope.function_type(kind)
        if function is not None:
            self.scope.add_function(node.name, function, coord)
            return
        if "static" not in node.storage or node.init is None or "const" not in node.quals:
            raise UnsupportedConstruct(coord, f"variable {node.name}", "only constants are bound")
        value = constant(node.init, self.scope.enumerators, coord)
        self.scope.claim(node.name, "constant", coord)
        if isinstance(value, str) and _is_text(kind, value):
            self.scope.header.keys[node.name] = value
        elif not isinstance(value, str) and kind == CType(kind.base, True):
            self.scope.header.constants[node.name] = converted(value, kind.base, coord)
        else:
            raise UnsupportedConstruct(coord, f"variable {node.name}", f"a {kind} with this value is no constant")


def _is_text(kind: CType, value: str) -> bool:
    """Does a variable of the type hold the whole string?"""
    text = kind.base in ("char", "wchar_t", "ORTCHAR_T")
    return text and len(kind.pointers) + len(kind.dims) <= 1 and (not kind.dims or kind.dims[0] > len(value.encode()))
