"""Types in one spelling, so that two readers of a header can be compared.

A pointer to a function is the function in brackets, whether it has a name or not. ``char`` and ``signed char`` are
one, and qualifiers are left out, because ctypesgen does not keep them.
"""

from __future__ import annotations

from typing import Any

from .model import CType, Function, Header

__all__ = ["Ours", "Theirs"]

_SCALARS = {
    "signed char": "char", "int8_t": "char", "ORTCHAR_T": "char", "uint8_t": "unsigned char", "int16_t": "short",
    "uint16_t": "unsigned short", "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long long",
    "uint64_t": "unsigned long long",
}  # fmt: skip

#: What ctypesgen puts in place of a result.
_SPECIAL = {"String": "char*", "c_char_p": "char*", "c_ubyte": "void"}


class Ours:
    """The spelling of the model's types."""

    def __init__(self, header: Header) -> None:
        self.header = header

    def type(self, kind: CType | Function) -> str:
        if isinstance(kind, Function):
            return self.function(kind)
        callback = self.header.callbacks.get(kind.base)
        base = self.function(callback.type) if callback else _SCALARS.get(kind.base, kind.base)
        return base + "*" * len(kind.pointers) + "".join(f"[{size}]" for size in kind.dims)

    def function(self, kind: Function) -> str:
        return f"<{self.type(kind.returns)}({', '.join(self.type(param.type) for param in kind.params)})>"


class Theirs:
    """The spelling of ctypesgen's types.

    Args:
        descriptions: what its parser gave.
    """

    def __init__(self, descriptions: Any) -> None:
        self.typedefs: dict[str, Any] = {typedef.name: typedef.ctype for typedef in descriptions.typedefs}
        # What has no tag is known by the typedef that names it, or by the member that has it.
        self.names: dict[int, str] = {
            id(kind): name for name, kind in self.typedefs.items() if getattr(kind, "anonymous", False)
        }
        for struct in descriptions.structs:
            if not struct.ctype.anonymous or id(struct.ctype) in self.names:
                self.name_members(struct.ctype)

    def name_members(self, struct: Any) -> None:
        for index, (name, kind) in enumerate(struct.members or ()):
            while hasattr(kind, "base"):
                kind = kind.base
            if getattr(kind, "anonymous", False):
                self.names.setdefault(id(kind), f"{self.type(struct)}_{name or f'anonymous{index}'}")
                self.name_members(kind)

    def type(self, kind: Any) -> str:
        # By the names of ctypesgen's classes: it need not be there for this module to be read.
        match type(kind).__name__:
            case "CtypesSimple":
                return self.simple(kind)
            case "CtypesSpecial":
                return _SPECIAL[kind.name]
            case "CtypesTypedef":
                target = self.typedefs.get(kind.name)
                return _SCALARS.get(kind.name, str(kind.name)) if target is None else self.type(target)
            case "CtypesPointer" if type(kind.destination).__name__ == "CtypesFunction":
                return self.type(kind.destination)
            case "CtypesPointer":
                return f"{self.type(kind.destination)}*"
            case "CtypesArray":
                element = self.type(kind.base)
                return f"{element}*" if kind.count is None else _array(element, kind.count.evaluate(None))
            case "CtypesFunction":
                return self.function(kind.restype, kind.argtypes)
            case "CtypesBitfield":
                return f"{self.type(kind.base)}:{kind.bitfield.evaluate(None)}"
        return self.names.get(id(kind)) or str(kind.tag)

    def simple(self, kind: Any) -> str:
        if kind.name == "_Bool":
            return "bool"
        if kind.name in ("int", "char", "short", "double"):
            words = ["unsigned"] * (not kind.signed) + ["long"] * max(kind.longs, 0) + [kind.name]
            return " ".join(words).replace("long int", "long")
        return _SCALARS.get(kind.name, str(kind.name))

    def function(self, returns: Any, parameters: list[Any]) -> str:
        spelt = [self.type(kind) for kind in parameters]
        # An array parameter is a pointer.
        spelt = [name.partition("[")[0] + "*" if "[" in name else name for name in spelt if name != "void"]
        return f"<{self.type(returns)}({', '.join(spelt)})>"


def _array(element: str, size: int) -> str:
    base, bracket, rest = element.partition("[")
    return f"{base}[{size}]{bracket}{rest}"
