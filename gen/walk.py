"""pycparser's syntax tree to the model: records, enums, callbacks, functions, typedefs, key strings."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from pycparser import c_ast

from .errors import Coord, GenError, UnsupportedConstruct
from .expr import evaluate
from .layout import check_bitfields
from .model import SCALARS, Callback, CType, Enum, Function, Header, Member, Param, Record
from .normalise import PACK_MARK

__all__ = ["Walker"]

_INTEGER_WORDS = {"signed", "unsigned", "char", "short", "int", "long"}


class Walker:
    """Collects the declarations of a translation unit into a `Header`."""

    def __init__(self, stdcall: set[str], base: Header) -> None:
        self.stdcall = stdcall
        self.base = base
        self.header = Header()
        self.enumerators: dict[str, int] = {v: n for e in base.enums.values() for v, n in e.values.items()}
        self.function_types: dict[str, Function] = {}
        self.declared: dict[str, Coord] = {}  # struct tags seen, with members or without
        self.tags: dict[str, str] = {}  # typedef name of an untagged record or enum -> its name here

    def finish(self) -> Header:
        """The header, with every struct that never got members as a handle."""
        header = self.header
        header.handles = [n for n in self.declared if n not in header.records and not self.base.knows(n)]
        for record in header.records.values():
            check_bitfields(record)
        return header

    # Declarations.

    def declaration(self, node: c_ast.Node) -> None:
        coord = _coord(node)
        match node:
            case c_ast.Pragma() | c_ast.StaticAssert():
                return
            case c_ast.Typedef():
                self.typedef(node, coord)
            case c_ast.FuncDef():
                return  # a static inline helper: nothing to bind
            case c_ast.Decl():
                self.plain(node, coord)
            case _:
                raise UnsupportedConstruct(coord, type(node).__name__)

    def plain(self, node: c_ast.Decl, coord: Coord) -> None:
        if node.align:
            raise UnsupportedConstruct(coord, "_Alignas", "ctypes cannot align a type before Python 3.13")
        match node.type:
            case c_ast.Struct() | c_ast.Union():
                self.record(node.type, node.type.name, coord)
            case c_ast.Enum():
                self.enum(node.type, node.type.name, coord)
            case c_ast.FuncDecl():
                if "static" not in node.storage:
                    convention = "stdcall" if node.name in self.stdcall else "cdecl"
                    self.header.functions[node.name] = self.function(node.type, node.name, convention, coord)
            case _:
                self.variable(node, coord)

    def variable(self, node: c_ast.Decl, coord: Coord) -> None:
        literal = node.init
        if "static" in node.storage and isinstance(literal, c_ast.Constant) and "string" in literal.type:
            self.header.keys[node.name] = str(ast.literal_eval(literal.value))
        elif "static" in node.storage and literal is not None and "const" in node.quals:
            self.header.constants[node.name] = evaluate(literal, self.enumerators, coord)
        else:
            raise UnsupportedConstruct(coord, f"variable {node.name}", "only constants are bound")

    def typedef(self, node: c_ast.Typedef, coord: Coord) -> None:
        name, target = node.name, node.type
        if isinstance(target, c_ast.FuncDecl):
            convention = "stdcall" if name in self.stdcall else "cdecl"
            self.function_types[name] = self.function(target, name, convention, coord)
            return
        if isinstance(target, c_ast.PtrDecl) and isinstance(target.type, c_ast.FuncDecl):
            self.callback(name, target, coord)
            return
        inner = target.type if isinstance(target, c_ast.TypeDecl) else None
        if isinstance(inner, (c_ast.Struct, c_ast.Union)):
            tag = inner.name or name
            self.record(inner, tag, coord)
            self.alias(name, CType(tag))
        elif isinstance(inner, c_ast.Enum):
            tag = inner.name or name
            self.enum(inner, tag, coord)
            self.alias(name, CType(tag))
        else:
            kind = self.type(target, name, coord)
            if isinstance(kind, Function):
                raise UnsupportedConstruct(coord, f"typedef {name}", "a function type behind two declarators")
            if kind.base in self.function_types and not kind.pointers:
                self.function_types[name] = self.function_types[kind.base]
            elif name not in SCALARS:
                self.alias(name, kind)

    def alias(self, name: str, target: CType) -> None:
        if name == str(target):
            return
        before = self.header.typedefs.setdefault(name, target)
        if before != target:
            raise GenError(f"typedef {name} is declared twice, as {before} and as {target}")

    def callback(self, name: str, target: c_ast.PtrDecl, coord: Coord) -> str:
        """Give a function-pointer type a name; give the name."""
        kind = self.function(target.type, name, _convention(target), coord)
        before = self.header.callbacks.get(name) or self.base.callbacks.get(name)
        if before is not None and not before.type.same_abi(kind):
            raise GenError(f"{coord}: callback type {name} is declared twice, as {before.type} and as {kind}")
        self.header.callbacks.setdefault(name, Callback(name, kind, coord=coord))
        return name

    # Records and enums.

    def record(self, node: c_ast.Struct | c_ast.Union, name: str | None, coord: Coord) -> str:
        if node.decls is None:
            if name is None:
                raise UnsupportedConstruct(coord, "struct without a name or members")
            self.declared.setdefault(name, coord)
            return name
        if name is None:
            raise UnsupportedConstruct(coord, "record without a name", "nothing can refer to it")
        if name in self.header.records:
            raise GenError(f"{coord}: {name} is defined twice")
        self.declared.setdefault(name, coord)
        kind = "union" if isinstance(node, c_ast.Union) else "struct"
        # Registered before its members are read: a member's type may point back at it.
        record = self.header.records[name] = Record(name, [], kind, coord=_coord(node))
        for member in node.decls:
            if isinstance(member, c_ast.Pragma):
                mark, _, number = member.string.partition(" ")
                if mark == PACK_MARK:
                    record.pack = int(number)
            elif not isinstance(member, c_ast.StaticAssert):
                self.member(record, member)
        if not record.members:
            raise UnsupportedConstruct(coord, f"{kind} {name}", "an empty record has no size in standard C")
        return name

    def member(self, record: Record, node: c_ast.Decl) -> None:
        coord = _coord(node)
        if node.align:
            raise UnsupportedConstruct(coord, "_Alignas", "ctypes cannot align a member before Python 3.13")
        inner = node.type
        while isinstance(inner, (c_ast.ArrayDecl, c_ast.TypeDecl, c_ast.PtrDecl)):
            inner = inner.type
        if isinstance(inner, (c_ast.Struct, c_ast.Union)) and inner.decls is not None and not inner.name:
            inner.name = f"{record.name}_{node.name or f'anonymous{len(record.members)}'}"
        if isinstance(inner, (c_ast.Struct, c_ast.Union, c_ast.Enum)) and isinstance(node.type, (c_ast.Struct, c_ast.Union)):
            if node.type.decls is None or node.name is None and not inner.name.startswith(f"{record.name}_anonymous"):
                self.record(node.type, node.type.name, coord)  # a tag declared in passing: no member
                return
            kind: CType | Function = CType(self.record(node.type, inner.name, coord))
            name = f"anonymous{len(record.members)}"
            record.members.append(Member(name, kind, anonymous=True, coord=coord))
            return
        bits = None
        if node.bitsize is not None:
            if node.name is None:
                raise UnsupportedConstruct(coord, "unnamed bit-field", "ctypes cannot pad by bits")
            bits = evaluate(node.bitsize, self.enumerators, coord)
        if node.name is None:
            if isinstance(node.type, c_ast.Enum):
                self.enum(node.type, node.type.name, coord)
                return
            raise UnsupportedConstruct(coord, f"member of {record.name} without a name")
        if record.find(node.name):
            raise GenError(f"{coord}: {record.name} has two members named {node.name}")
        kind = self.type(node.type, f"{record.name}_{node.name}", coord, inline=True)
        if isinstance(kind, CType):
            self.check_complete(kind, coord)
        record.members.append(Member(node.name, kind, bits=bits, coord=coord))

    def check_complete(self, kind: CType, coord: Coord) -> None:
        """A member by value needs a size."""
        known = kind.base in SCALARS or kind.base in self.header.records or kind.base in self.base.records
        enum_or_callback = self.base.knows(kind.base) or kind.base in self.header.enums | self.header.callbacks
        if kind.pointers or (known and kind.base != "void") or (enum_or_callback and kind.base not in self.base.handles):
            return
        raise UnsupportedConstruct(coord, f"member of type {kind}", "that type has no size")

    def enum(self, node: c_ast.Enum, name: str | None, coord: Coord) -> str:
        if node.values is None:
            if name is None:
                raise UnsupportedConstruct(coord, "enum without a name or values")
            return name
        values: dict[str, int] = {}
        following = 0
        for item in node.values.enumerators:
            here = _coord(item)
            if item.value is not None:
                following = evaluate(item.value, self.enumerators, here)
            if not -(1 << 31) <= following < 1 << 32:
                raise UnsupportedConstruct(here, f"{item.name} = {following}", "an enumerator wider than 32 bits")
            if item.name in self.enumerators:
                raise GenError(f"{here}: enumerator {item.name} is declared twice")
            values[item.name] = self.enumerators[item.name] = following
            following += 1
        if name is None:  # `enum { A = 1 };` is how C spells constants
            self.header.constants.update(values)
            return "int"
        if min(values.values()) < 0 and max(values.values()) >= 1 << 31:
            raise UnsupportedConstruct(coord, f"enum {name}", "its values do not fit one 32-bit type")
        flags = any(_has_shift(item.value) for item in node.values.enumerators)
        self.header.enums[name] = Enum(name, values, flags, coord=_coord(node))
        return name

    # Types.

    def type(self, node: c_ast.Node, name: str, coord: Coord, inline: bool = False) -> CType | Function:
        """A declarator to a type. ``name`` is what a nested function pointer or record will be called.

        ``inline`` lets a stdcall function pointer stay a `Function`, as the slots of a table are.
        """
        match node:
            case c_ast.TypeDecl():
                return self.base_type(node, name, coord)
            case c_ast.PtrDecl():
                return self.pointer(node, name, coord, inline)
            case c_ast.ArrayDecl():
                return self.array(node, name, coord)
            case c_ast.FuncDecl():
                raise UnsupportedConstruct(coord, f"function {name}", "a function cannot stand here; a pointer to one can")
            case c_ast.Struct() | c_ast.Union() | c_ast.Enum():
                raise UnsupportedConstruct(coord, f"record in {name}", "it declares nothing")
        raise UnsupportedConstruct(coord, type(node).__name__)

    def pointer(self, node: c_ast.PtrDecl, name: str, coord: Coord, inline: bool) -> CType | Function:
        if isinstance(node.type, c_ast.FuncDecl):
            convention = _convention(node)
            if inline and convention == "stdcall":
                return self.function(node.type, name, convention, coord)
            return CType(self.callback(name, node, coord))
        target = self.type(node.type, name, coord)
        if isinstance(target, Function):
            raise UnsupportedConstruct(coord, f"pointer in {name}")
        if target.dims:
            raise UnsupportedConstruct(coord, f"pointer to an array in {name}", "ORT passes arrays as pointers")
        if target.base in self.function_types and not target.pointers:  # `FN*`: the star makes it a pointer
            self.header.callbacks.setdefault(
                target.base, Callback(target.base, self.function_types[target.base], coord=coord)
            )
            return CType(target.base)
        return target.pointer("const" in node.quals)

    def array(self, node: c_ast.ArrayDecl, name: str, coord: Coord) -> CType:
        element = self.type(node.type, name, coord)
        if isinstance(element, Function):
            raise UnsupportedConstruct(coord, f"array of functions in {name}")
        if node.dim is None:
            raise UnsupportedConstruct(coord, f"array {name}[]", "an array without a size at the end of a struct")
        size = evaluate(node.dim, self.enumerators | _ints(self.header.constants), coord)
        if size <= 0:
            raise UnsupportedConstruct(coord, f"array {name}[{size}]", "it has no size in standard C")
        return CType(element.base, element.const, element.pointers, (size, *element.dims))

    def base_type(self, node: c_ast.TypeDecl, name: str, coord: Coord) -> CType:
        const = "const" in node.quals
        match node.type:
            case c_ast.IdentifierType():
                return self.named(" ".join(node.type.names), const, coord)
            case c_ast.Struct() | c_ast.Union():
                return CType(self.record(node.type, node.type.name or name, coord), const)
            case c_ast.Enum():
                return CType(self.enum(node.type, node.type.name, coord), const)
        raise UnsupportedConstruct(coord, type(node.type).__name__)

    def named(self, name: str, const: bool, coord: Coord) -> CType:
        words = name.split()
        if set(words) <= _INTEGER_WORDS:
            return CType(_integer_name(words, coord), const)
        name = {"_Bool": "bool"}.get(name, name)
        target = self.header.typedefs.get(name) or self.base.typedefs.get(name)
        if target is not None:
            return self.through_typedef(target, const)
        if name in SCALARS or name in self.function_types:
            return CType(name, const)
        if self.base.knows(name) or name in self.declared or self.header.knows(name):
            return CType(name, const)
        raise UnsupportedConstruct(coord, name, "this type is not one that ctypes has")

    @staticmethod
    def through_typedef(target: CType, const: bool) -> CType:
        """``const`` on a typedef belongs to the whole type: on a pointer it is the pointer that is const."""
        if not const:
            return target
        if target.pointers:
            return CType(target.base, target.const, (*target.pointers[:-1], True), target.dims)
        return CType(target.base, True, (), target.dims)

    def function(self, node: c_ast.FuncDecl, name: str, convention: str, coord: Coord) -> Function:
        returns = self.type(node.type, f"{name}_result", coord)
        if isinstance(returns, Function) or returns.dims:
            raise UnsupportedConstruct(coord, f"result of {name}")
        params: list[Param] = []
        for i, item in enumerate(node.args.params if node.args else []):
            if isinstance(item, c_ast.EllipsisParam):
                raise UnsupportedConstruct(coord, f"... in {name}", "a variable argument list has no prototype")
            if isinstance(item, c_ast.ID):
                raise UnsupportedConstruct(coord, f"parameter list of {name}", "it is written in the style before C89")
            params.append(self.param(item, name, i, coord))
        if [str(p.type) for p in params] == ["void"]:
            params = []
        for param in params:
            if not param.type.pointers and param.type.base in self.header.records | self.base.records:
                continue  # a struct by value: ctypes passes it as C does
        return Function(returns, tuple(params), "stdcall" if convention == "stdcall" else "cdecl")

    def param(self, node: c_ast.Decl | c_ast.Typename, function: str, index: int, coord: Coord) -> Param:
        name = node.name or f"arg{index}"
        kind = node.type
        if isinstance(kind, c_ast.ArrayDecl):  # an array parameter is a pointer
            element = self.type(kind.type, f"{function}_{name}", coord)
            if isinstance(element, Function) or element.dims:
                raise UnsupportedConstruct(coord, f"parameter {name} of {function}", "an array of arrays")
            return Param(name, element.pointer())
        if isinstance(kind, c_ast.FuncDecl):  # so is a function
            callback = Callback(f"{function}_{name}", self.function(kind, f"{function}_{name}", "cdecl", coord))
            self.header.callbacks.setdefault(callback.name, callback)
            return Param(name, CType(callback.name))
        result = self.type(kind, f"{function}_{name}", coord)
        assert isinstance(result, CType)
        return Param(name, result)


def _coord(node: c_ast.Node) -> Coord:
    return Coord(node.coord.file, node.coord.line) if node.coord else Coord("header.h", 0)


def _convention(pointer: c_ast.PtrDecl) -> str:
    return "stdcall" if "restrict" in pointer.quals else "cdecl"  # the mark that normalise leaves


def _has_shift(node: c_ast.Node | None) -> bool:
    if node is None:
        return False
    if isinstance(node, c_ast.BinaryOp) and node.op == "<<":
        return True
    return any(_has_shift(child) for _, child in node.children())


def _ints(constants: Mapping[str, int | float | str]) -> dict[str, int]:
    return {name: value for name, value in constants.items() if isinstance(value, int)}


def _integer_name(words: list[str], coord: Coord) -> str:
    """``unsigned long int`` and the like, in the one order that the model uses."""
    sign = "unsigned" if "unsigned" in words else "signed" if "signed" in words else ""
    rest = [w for w in words if w not in ("signed", "unsigned")]
    core = [w for w in rest if w != "int"]
    size = {(): "int", ("char",): "char", ("short",): "short", ("long",): "long", ("long", "long"): "long long"}
    name = size.get(tuple(core))
    if name is None or ("int" in rest and core == ["char"]):
        raise UnsupportedConstruct(coord, " ".join(words))
    if name == "char":
        return f"{sign} char".strip()
    return f"unsigned {name}" if sign == "unsigned" else name
