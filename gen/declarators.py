"""pycparser's declarators to types of the model. Records and enums in them must have been defined before."""

from __future__ import annotations

from pycparser import c_ast

from .errors import Coord, UnsupportedConstruct
from .expr import evaluate
from .model import Convention, CType, Function, Param
from .scope import Scope

__all__ = ["Declarators", "place"]


def place(node: c_ast.Node) -> Coord:
    return Coord(node.coord.file, node.coord.line) if node.coord else Coord("header.h", 0)


class Declarators:
    """Reads declarators.

    Args:
        scope: the names that they may use.
        stdcall: the functions that are declared __stdcall, by name and place; what is used is taken out.
    """

    def __init__(self, scope: Scope, stdcall: set[tuple[str, Coord]]) -> None:
        self.scope = scope
        self.stdcall = stdcall
        self.inline: dict[int, CType] = {}  # id of a node with members or enumerators -> what it defined

    def type(self, node: c_ast.Node, name: str, coord: Coord) -> CType:
        """A declarator to a type. ``name`` is what a function pointer in it will be called."""
        match node:
            case c_ast.TypeDecl():
                return self.base(node, coord)
            case c_ast.PtrDecl():
                return self.pointer(node, name, coord)
            case c_ast.ArrayDecl():
                return self.array(node, name, coord)
            case c_ast.FuncDecl():
                raise UnsupportedConstruct(coord, f"function {name}", "a function cannot stand here; a pointer can")
        raise UnsupportedConstruct(coord, type(node).__name__, f"it declares nothing in {name}")

    def slot(self, node: c_ast.Node, name: str, coord: Coord) -> CType | Function:
        """The same for a member: a pointer to a stdcall function, as the slots of a table are, needs no name."""
        if isinstance(node, c_ast.PtrDecl) and isinstance(node.type, c_ast.FuncDecl) and _is_stdcall(node):
            return self.function(node.type, name, "stdcall", coord)
        return self.type(node, name, coord)

    def base(self, node: c_ast.TypeDecl, coord: Coord) -> CType:
        const = "const" in node.quals
        match node.type:
            case c_ast.IdentifierType():
                return self.scope.named(" ".join(node.type.names), const, coord)
            case c_ast.Struct() | c_ast.Union() | c_ast.Enum():
                kind = self.inline.get(id(node.type)) or self.mentioned(node.type, coord)
                return CType(kind.base, const)
        raise UnsupportedConstruct(coord, type(node.type).__name__, "it is not a type that ctypes has")

    def mentioned(self, node: c_ast.Struct | c_ast.Union | c_ast.Enum, coord: Coord) -> CType:
        """A type that is named by its tag alone."""
        word = type(node).__name__.lower()
        if (node.values if isinstance(node, c_ast.Enum) else node.decls) is not None or node.name is None:
            raise UnsupportedConstruct(coord, f"{word} {node.name or ''}".strip(), "it cannot be defined here")
        if not isinstance(node, c_ast.Enum):
            return CType(self.scope.tag(node.name, word, coord))
        name = self.scope.tags.get(node.name, node.name)
        if name not in self.scope.header.enums and name not in self.scope.base.enums:
            raise UnsupportedConstruct(coord, f"enum {name}", "its enumerators are not declared before")
        return CType(name)

    def pointer(self, node: c_ast.PtrDecl, name: str, coord: Coord) -> CType:
        if isinstance(node.type, c_ast.FuncDecl):
            convention: Convention = "stdcall" if _is_stdcall(node) else "cdecl"
            return self.scope.add_callback(name, self.function(node.type, name, convention, coord), coord)
        if _is_stdcall(node):
            raise UnsupportedConstruct(coord, f"__stdcall in {name}", "it stands on no function")
        return self.scope.pointed(self.type(node.type, name, coord), "const" in node.quals, coord)

    def array(self, node: c_ast.ArrayDecl, name: str, coord: Coord) -> CType:
        element = self.type(node.type, name, coord)
        if node.dim is None:
            raise UnsupportedConstruct(coord, f"array {name}[]", "it has no size")
        size = evaluate(node.dim, self.scope.enumerators, coord)
        if size <= 0:
            raise UnsupportedConstruct(coord, f"array {name}[{size}]", "it has no size in standard C")
        return CType(element.base, element.const, element.pointers, (size, *element.dims))

    # Functions.

    def function(self, node: c_ast.FuncDecl, name: str, convention: Convention, coord: Coord) -> Function:
        returns = self.type(node.type, f"{name}_result", coord)
        if returns.dims or self.scope.function_type(returns) is not None:
            raise UnsupportedConstruct(coord, f"result of {name}", "C has no such function")
        self.scope.pass_by_value(returns, f"result of {name}", coord)
        params: list[Param] = []
        # No list at all is an empty one: C++ and C23 read it so, and upstream writes it so.
        for i, item in enumerate(node.args.params if node.args else []):
            if isinstance(item, c_ast.EllipsisParam):
                raise UnsupportedConstruct(coord, f"... in {name}", "a variable argument list has no prototype")
            if isinstance(item, c_ast.ID):
                raise UnsupportedConstruct(coord, f"parameters of {name}", "they are written in the style before C89")
            params.append(self.param(item, name, i, {param.name for param in params}, coord))
        if [param.type for param in params] == [CType("void")]:
            params = []
        for param in params:
            if param.type == CType("void"):
                raise UnsupportedConstruct(coord, f"parameter {param.name} of {name}", "void is no parameter")
            self.scope.pass_by_value(param.type, f"parameter {param.name} of {name}", coord)
        return Function(returns, tuple(params), convention)

    def param(self, node: c_ast.Node, function: str, index: int, taken: set[str], coord: Coord) -> Param:
        name = node.name or f"arg{index}"
        while name in taken:
            name += "_"
        return Param(name, self.decayed(node.type, f"{function}_{name}", coord))

    def decayed(self, node: c_ast.Node, name: str, coord: Coord) -> CType:
        """The type of a parameter: an array and a function are pointers there."""
        if isinstance(node, c_ast.FuncDecl):
            return self.scope.add_callback(name, self.function(node, name, self.convention(node), coord), coord)
        if isinstance(node, c_ast.ArrayDecl):
            return self.scope.pointed(self.type(node.type, name, coord), False, coord)
        kind = self.type(node, name, coord)
        if kind.dims:  # by a typedef
            return self.scope.pointed(CType(kind.base, kind.const, kind.pointers, kind.dims[1:]), False, coord)
        if self.scope.function_type(kind) is not None:
            return self.scope.pointed(kind, False, coord)
        return kind

    def convention(self, node: c_ast.FuncDecl) -> Convention:
        """Of a function that is no pointer."""
        inner = node.type
        while not isinstance(inner, c_ast.TypeDecl):
            inner = inner.type
        key = (inner.declname or "", place(inner))
        if key not in self.stdcall:
            return "cdecl"
        self.stdcall.discard(key)
        return "stdcall"

    def forget(self, node: c_ast.Node) -> None:
        """Pass over a function that nobody binds, and what is marked in it."""
        if isinstance(node, c_ast.TypeDecl):
            self.stdcall.discard((node.declname or "", place(node)))
        for _, child in node.children():
            self.forget(child)


def _is_stdcall(pointer: c_ast.PtrDecl) -> bool:
    return "restrict" in pointer.quals  # the mark that normalise leaves
