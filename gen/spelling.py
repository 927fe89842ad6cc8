"""How C spells the types of a header set: by a tag, by a typedef, or as the type of a member."""

from __future__ import annotations

from pycparser import c_ast

from .model import SCALARS, CType, Function, Header
from .normalise import normalise
from .preprocess import Preprocessed
from .standard import TYPES, UNKNOWN_TYPES
from .syntax import syntax_tree

__all__ = ["Spelling"]

#: Names of the model that C spells otherwise where the probe runs.
_HERE = {"ORTCHAR_T": "char", "bool": "_Bool"}


class Spelling:
    """Spells types for GCC and Clang.

    Args:
        header: whose types are spelt.
        source: the headers that C reads.
    """

    def __init__(self, header: Header, source: Preprocessed) -> None:
        self.header = header
        names = _Names()
        for node in syntax_tree(normalise(source.tokens).tokens, [*TYPES, *UNKNOWN_TYPES]):
            names.visit(node)
        self.names = names.found
        for name in header.records:
            self._spell_members(name)

    def record(self, name: str) -> str | None:
        """A struct or union; None for an anonymous member, and for what the headers do not have."""
        return self.names.get(name)

    def type(self, kind: CType | Function) -> str | None:
        """Any type; None where a part of it has no spelling."""
        if isinstance(kind, Function):
            return self._function(kind)
        callback = self.header.callbacks.get(kind.base)
        if callback is not None:
            text = self._function(callback.type)
        elif kind.base in _HERE:
            text = _HERE[kind.base]
        else:
            text = kind.base if kind.base in SCALARS else self.names.get(kind.base)
        if text is None:
            return None
        text = f"const __typeof__({text})" if kind.const else text
        for const in kind.pointers:
            text = f"__typeof__({text}) *{'const' if const else ''}"
        return f"__typeof__({text}) {''.join(f'[{size}]' for size in kind.dims)}" if kind.dims else text

    def _function(self, kind: Function) -> str | None:
        parts = [self.type(part) for part in (kind.returns, *(param.type for param in kind.params))]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        return f"__typeof__({known[0]}) (*)({', '.join(known[1:]) or 'void'})"

    def _spell_members(self, name: str, outer: str | None = None) -> None:
        """A type without a name is that of the member that has it.

        Args:
            outer: how the record is spelt whose anonymous member this one is.
        """
        spelt = outer or self.names.get(name)
        for member in self.header.records[name].members if spelt else ():
            kind = member.type
            if not isinstance(kind, CType) or kind.base in self.names:
                continue
            if member.anonymous:
                self._spell_members(kind.base, spelt)
            elif kind.base in self.header.records or kind.base in self.header.enums:
                at = "*" * len(kind.pointers) + f"(({spelt}*)0)->{member.name}" + "[0]" * len(kind.dims)
                self.names[kind.base] = f"__typeof__({at})"
                if kind.base in self.header.records:
                    self._spell_members(kind.base)


class _Names(c_ast.NodeVisitor):  # type: ignore[misc]
    """Tags and typedef names. A typedef's wins: a tag may have been given up for it."""

    def __init__(self) -> None:
        self.found: dict[str, str] = {}

    def visit_Typedef(self, node: c_ast.Typedef) -> None:
        if isinstance(node.type, c_ast.TypeDecl) and not isinstance(node.type.type, c_ast.IdentifierType):
            self.found[node.name] = node.name
        self.generic_visit(node)

    def visit_Struct(self, node: c_ast.Struct) -> None:
        self.tag("struct", node)

    def visit_Union(self, node: c_ast.Union) -> None:
        self.tag("union", node)

    def visit_Enum(self, node: c_ast.Enum) -> None:
        self.tag("enum", node)

    def tag(self, word: str, node: c_ast.Struct | c_ast.Union | c_ast.Enum) -> None:
        if node.name:
            self.found.setdefault(node.name, f"{word} {node.name}")
        self.generic_visit(node)
