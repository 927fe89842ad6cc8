"""The names that are known at a place in a translation unit, and what they stand for."""

from __future__ import annotations

from .errors import Coord, UnsupportedConstruct
from .model import SCALARS, Callback, CType, Enum, Function, Header, Record
from .standard import TYPES

__all__ = ["Scope"]

_INTEGER_WORDS = {"signed", "unsigned", "char", "short", "int", "long"}
_SIZES = {
    (): "int", ("char",): "char", ("short",): "short", ("long",): "long", ("long", "long"): "long long",
}  # fmt: skip

#: Scalars that are one and the same wherever ORT runs.
_SAME = {
    "int8_t": "signed char", "uint8_t": "unsigned char", "int16_t": "short", "uint16_t": "unsigned short",
    "int32_t": "int", "uint32_t": "unsigned int", "int64_t": "long long", "uint64_t": "unsigned long long",
}  # fmt: skip

#: After the name of a typedef of a function: the pointer to it has the name without.
_ITSELF = "()"


class Scope:
    """Collects the names of a header set into a `Header`, over those of another that it may use."""

    def __init__(self, base: Header) -> None:
        self.base = base
        self.header = Header()
        self.enumerators = {name: number for enum in base.enums.values() for name, number in enum.values.items()}
        self.function_types: dict[str, Function] = {}  # typedefs of functions, not of pointers to them
        self.tags: dict[str, str] = {}  # C's tag -> the name of the record here, where that is another
        self.declared: dict[str, Coord] = {}  # struct tags seen, with members or without
        self.open: set[str] = set()  # records whose members are being read
        self._kinds = _kinds(base)  # every name -> what it names
        self._own: set[str] = set()  # enumerators of this header
        self._by_value: list[tuple[CType, str, Coord]] = []

    def claim(self, name: str, kind: str, coord: Coord) -> None:
        """Take a name. C keeps tags apart from the rest; here, as in Python, a name is one thing."""
        if self._kinds.setdefault(name, kind) != kind:
            raise UnsupportedConstruct(
                coord, f"{kind} {name}", f"it is the name of another {self._kinds[name]} as well"
            )

    # Records, enums and constants.

    def tag(self, name: str, kind: str, coord: Coord) -> str:
        """A struct or union that is mentioned; the name that it has here."""
        name = self.tags.get(name, name)
        self.claim(name, kind, coord)
        self.declared.setdefault(name, coord)
        return name

    def add_record(self, record: Record, coord: Coord) -> None:
        if record.name in self.header.records:
            raise UnsupportedConstruct(coord, f"{record.kind} {record.name}", "it is defined twice")
        self.tag(record.name, record.kind, coord)
        self.header.records[record.name] = record

    def add_enum(self, enum: Enum, coord: Coord) -> None:
        if enum.name in self.header.enums:
            raise UnsupportedConstruct(coord, f"enum {enum.name}", "it is defined twice")
        self.claim(enum.name, "enum", coord)
        self.header.enums[enum.name] = enum

    def add_enumerator(self, name: str, value: int, coord: Coord) -> None:
        if name in self._own:
            raise UnsupportedConstruct(coord, name, "this enumerator is declared twice")
        self.claim(name, "enumerator", coord)
        self._own.add(name)
        self.enumerators[name] = value

    # Typedefs.

    def add_callback(self, name: str, kind: Function, coord: Coord) -> CType:
        """Give a function-pointer type a name; give that as a type."""
        before = self.header.callbacks.get(name) or self.base.callbacks.get(name)
        if before is not None and not before.type.same_abi(kind):
            why = f"it is declared twice, as {before.type} and as {kind}"
            raise UnsupportedConstruct(coord, f"callback {name}", why)
        self.claim(name, "function", coord)
        self.header.callbacks.setdefault(name, Callback(name, kind, coord=coord))
        return CType(name)

    def add_function_type(self, name: str, kind: Function, coord: Coord) -> None:
        before = self.function_types.setdefault(name, kind)
        if not before.same_abi(kind):
            raise UnsupportedConstruct(coord, f"typedef {name}", f"it is declared twice, as {before} and as {kind}")
        self.claim(name, "function", coord)

    def add_function(self, name: str, kind: Function, coord: Coord) -> None:
        """A function that the library exports."""
        before = self.header.functions.setdefault(name, kind)
        if not before.same_abi(kind):
            raise UnsupportedConstruct(coord, f"function {name}", f"it is declared twice, as {before} and as {kind}")

    def add_typedef(self, name: str, target: CType, coord: Coord) -> None:
        if name in SCALARS and _same(CType(name), target):
            return
        if name == str(target):  # typedef struct X X
            return
        self.claim(name, "typedef", coord)
        before = self.header.typedefs.setdefault(name, target)
        if before != target:
            raise UnsupportedConstruct(coord, f"typedef {name}", f"it is declared twice, as {before} and as {target}")

    # Looking up.

    def named(self, name: str, const: bool, coord: Coord) -> CType:
        """The type that type words stand for.

        Raises:
            UnsupportedConstruct: ctypes has no such type, or nothing declares it.
        """
        words = name.split()
        if _INTEGER_WORDS.issuperset(words):
            return CType(_integer(words, coord), const)
        if sorted(words) == ["double", "long"]:
            return CType("long double", const)
        target = self.header.typedefs.get(name) or self.base.typedefs.get(name)
        if target is not None:
            return _through(target, const)
        name = "bool" if name == "_Bool" else TYPES.get(name, name)
        if name in self.function_types:
            return CType(f"{name}{_ITSELF}", const)
        if name not in SCALARS and name not in self._kinds:
            raise UnsupportedConstruct(coord, name, "this type is not one that ctypes has")
        return CType(name, const)

    def function_type(self, kind: CType) -> Function | None:
        """The function that a typedef names, where it is that and no pointer to one."""
        if kind.pointers or not kind.base.endswith(_ITSELF):
            return None
        return self.function_types[kind.base.removesuffix(_ITSELF)]

    def pointed(self, kind: CType, const: bool, coord: Coord) -> CType:
        """A pointer to a type."""
        if kind.dims:
            raise UnsupportedConstruct(coord, f"pointer to {kind}", "a pointer to an array has no name in a snapshot")
        function = self.function_type(kind)
        if function is not None:  # the star makes it a pointer, which is what a callback is
            return self.add_callback(kind.base.removesuffix(_ITSELF), function, coord)
        return kind.pointer(const)

    # Sizes.

    def check_complete(self, kind: CType, coord: Coord) -> None:
        """A member by value needs a size, now."""
        name = kind.base
        sized = (name in SCALARS and name != "void") or any(
            name in part
            for header in (self.header, self.base)
            for part in (header.records, header.enums, header.callbacks)
        )
        if not kind.pointers and (not sized or name in self.open):
            raise UnsupportedConstruct(coord, f"member of type {kind}", "that type has no size here")

    def pass_by_value(self, kind: CType, what: str, coord: Coord) -> None:
        """A parameter or result by value needs a size by the end of the header."""
        if not kind.pointers and kind.base not in SCALARS:
            self._by_value.append((kind, what, coord))

    def finish(self) -> Header:
        """The header, with every struct that never got members as a handle."""
        header = self.header
        header.handles = [n for n in self.declared if n not in header.records and not self.base.knows(n)]
        for kind, what, coord in self._by_value:
            if kind.base in header.handles or kind.base in self.base.handles:
                raise UnsupportedConstruct(coord, f"{kind} as {what}", "that type has no size")
            if not self._passes(kind):
                why = "ctypes does not pass unions and bit-fields by value"
                raise UnsupportedConstruct(coord, f"{kind} as {what}", why)
        return header

    def _passes(self, kind: CType) -> bool:
        record = self.header.records.get(kind.base) or self.base.records.get(kind.base)
        if record is None or kind.pointers:
            return True
        if record.kind == "union" or any(member.bits is not None for member in record.members):
            return False
        return all(self._passes(member.type) for member in record.members if isinstance(member.type, CType))


def _kinds(header: Header) -> dict[str, str]:
    kinds = dict.fromkeys(header.typedefs, "typedef")
    kinds |= {name: record.kind for name, record in header.records.items()}
    kinds |= dict.fromkeys(header.handles, "struct") | dict.fromkeys(header.enums, "enum")
    kinds |= dict.fromkeys(header.callbacks, "function")
    return kinds | {name: "enumerator" for enum in header.enums.values() for name in enum.values}


def _same(left: CType, right: CType) -> bool:
    return _canonical(left) == _canonical(right)


def _canonical(kind: CType) -> CType:
    return CType(_SAME.get(kind.base, kind.base), kind.const, kind.pointers, kind.dims)


def _through(target: CType, const: bool) -> CType:
    """``const`` on a typedef belongs to the whole type: on a pointer it is the pointer that is const."""
    if not const:
        return target
    if target.pointers:
        return CType(target.base, target.const, (*target.pointers[:-1], True), target.dims)
    return CType(target.base, True, (), target.dims)


def _integer(words: list[str], coord: Coord) -> str:
    """``unsigned long int`` and the like, in the one order that the model uses."""
    signs = [word for word in words if word in ("signed", "unsigned")]
    core = tuple(word for word in words if word not in ("signed", "unsigned", "int"))
    name = _SIZES.get(core)
    if name is None or len(signs) > 1 or words.count("int") > 1 or ("int" in words and name == "char"):
        raise UnsupportedConstruct(coord, " ".join(words), "these words do not make a type")
    if name == "char":
        return " ".join([*signs, name])
    return f"unsigned {name}" if "unsigned" in signs else name
