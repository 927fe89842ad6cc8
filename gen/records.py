"""Structs, unions and enums, wherever a declaration defines them."""

from __future__ import annotations

from collections.abc import Iterator

from pycparser import c_ast

from .declarators import Declarators, place
from .errors import Coord, UnsupportedConstruct
from .expr import evaluate
from .layout import check_bitfields
from .model import CType, Enum, Member, Record
from .packing import PACK_MARK
from .scope import Scope

__all__ = ["Records"]

#: What ctypes itself looks for in a class of fields.
_CTYPES = {"_fields_", "_anonymous_", "_pack_", "_align_", "_layout_", "_swappedbytes_", "_objects"}


class Records:
    """Defines what a declaration defines on its way, before its declarators are read."""

    def __init__(self, scope: Scope, declarators: Declarators) -> None:
        self.scope = scope
        self.declarators = declarators
        self.anonymous: dict[str, str] = {}  # anonymous record -> the member that it is

    def define(self, node: c_ast.Node, name: str) -> None:
        """Define the struct, union or enum at the bottom of a declarator, if it has members.

        Args:
            name: its name where it has no tag; nothing where it then has none.
        """
        while isinstance(node, (c_ast.TypeDecl, c_ast.PtrDecl, c_ast.ArrayDecl, c_ast.FuncDecl)):
            node = node.type
        if id(node) in self.declarators.inline:  # a second declarator of the same declaration
            return
        if isinstance(node, c_ast.Enum) and node.values is not None:
            tag = self.scope.tags.get(node.name, node.name) or name
            self.declarators.inline[id(node)] = self.enum(node, tag or None)
        elif isinstance(node, (c_ast.Struct, c_ast.Union)) and node.decls is not None:
            tag = self.scope.tags.get(node.name, node.name) or name
            if not tag:
                raise UnsupportedConstruct(place(node), type(node).__name__.lower(), "nothing can refer to it")
            self.declarators.inline[id(node)] = self.record(node, tag)

    # Structs and unions.

    def record(self, node: c_ast.Struct | c_ast.Union, name: str) -> CType:
        coord = place(node)
        record = Record(name, [], "union" if isinstance(node, c_ast.Union) else "struct", coord=coord)
        # Known before its members are read: a member may point back at it.
        self.scope.add_record(record, coord)
        self.scope.open.add(name)
        taken = {item.name for item in node.decls if isinstance(item, c_ast.Decl)}
        for item in node.decls:
            if isinstance(item, c_ast.Pragma):
                record.pack = int(item.string.removeprefix(PACK_MARK))
            elif isinstance(item, c_ast.Decl):
                self.member(record, item, taken)
            else:
                raise UnsupportedConstruct(place(item), type(item).__name__, f"it is no member of {name}")
        self.scope.open.discard(name)
        if not record.members:
            raise UnsupportedConstruct(coord, f"{record.kind} {name}", "an empty record has no size in standard C")
        self.check_names(record, coord)
        if any(member.bits is not None for member in record.members):
            header, base = self.scope.header, self.scope.base
            check_bitfields(record, {*header.enums, *header.callbacks, *base.enums, *base.callbacks})
        return CType(name)

    def member(self, record: Record, node: c_ast.Decl, taken: set[str | None]) -> None:
        coord = place(node)
        if node.name is None:
            self.nameless(record, node, taken, coord)
            return
        name = f"{record.name}_{node.name}"
        self.define(node.type, name)
        kind = self.declarators.slot(node.type, name, coord)
        if isinstance(kind, CType):
            self.scope.check_complete(kind, coord)
        bits = None
        if node.bitsize is not None:
            bits = evaluate(node.bitsize, self.scope.enumerators, coord)
        record.members.append(Member(node.name, kind, bits=bits, coord=coord))

    def nameless(self, record: Record, node: c_ast.Decl, taken: set[str | None], coord: Coord) -> None:
        """An anonymous struct or union, or a type that is only declared inside."""
        inner = node.type
        if isinstance(inner, c_ast.Enum) and inner.values is not None:
            self.define(inner, "")
        elif node.bitsize is not None:
            coord = place(node.bitsize)
            raise UnsupportedConstruct(coord, f"unnamed bit-field in {record.name}", "ctypes cannot pad by bits")
        elif not isinstance(inner, (c_ast.Struct, c_ast.Union)) or (inner.decls is not None and inner.name):
            why = "compilers differ on whether it is a member"
            raise UnsupportedConstruct(coord, f"member of {record.name} without a name", why)
        elif inner.decls is None:
            self.declarators.mentioned(inner, coord)
        else:
            # The members of an anonymous one are reached from outside, and that includes those it has for its own.
            within = self.anonymous.get(record.name)
            name = f"{within}_{len(record.members)}" if within else f"anonymous{len(record.members)}"
            while name in taken:
                name += "_"
            record_name = f"{record.name}_{name.removeprefix(f'{within}_')}"
            self.anonymous[record_name] = name
            kind = self.record(inner, record_name)
            record.members.append(Member(name, kind, anonymous=True, coord=coord))

    def check_names(self, record: Record, coord: Coord) -> None:
        seen: set[str] = set()
        for name in self.names(record):
            if name in seen:
                raise UnsupportedConstruct(coord, f"{record.kind} {record.name}", f"two members are called {name}")
            if name in _CTYPES or (name.startswith("__") and name.endswith("__")):
                raise UnsupportedConstruct(coord, f"{record.name}.{name}", "Python or ctypes needs that name itself")
            seen.add(name)

    def names(self, record: Record) -> Iterator[str]:
        """The names that are reached through a record, those of its anonymous members among them."""
        for member in record.members:
            yield member.name
            if member.anonymous and isinstance(member.type, CType):
                yield from self.names(self.scope.header.records[member.type.base])

    # Enums.

    def enum(self, node: c_ast.Enum, name: str | None) -> CType:
        """An enum; without a name it is how C spells constants."""
        values: dict[str, int] = {}
        following = 0
        for item in node.values.enumerators:
            coord = place(item)
            if item.value is not None:
                following = evaluate(item.value, self.scope.enumerators, coord)
            elif following == 1 << 31 and (1 << 31) - 1 in values.values():
                raise UnsupportedConstruct(coord, item.name, "it overflows int")
            if not -(1 << 31) <= following < 1 << 32:
                raise UnsupportedConstruct(coord, f"{item.name} = {following}", "an enumerator wider than 32 bits")
            self.scope.add_enumerator(item.name, following, coord)
            values[item.name] = following
            following += 1
        if min(values.values()) < 0 and max(values.values()) >= 1 << 31:
            raise UnsupportedConstruct(place(node), f"enum {name or ''}", "its values do not fit one 32-bit type")
        if name is None:
            self.scope.header.constants.update(values)
            return CType("int" if max(values.values()) < 1 << 31 else "unsigned int")
        flags = any(_has_shift(item.value) for item in node.values.enumerators)
        self.scope.add_enum(Enum(name, values, flags, coord=place(node)), place(node))
        return CType(name)


def _has_shift(node: c_ast.Node | None) -> bool:
    if node is None:
        return False
    if isinstance(node, c_ast.BinaryOp) and node.op == "<<":
        return True
    return any(_has_shift(child) for _, child in node.children())
