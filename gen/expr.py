"""Constant expressions of C, as enumerators, array sizes and macros use them."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable, Mapping
from typing import NamedTuple

from pycparser import c_ast

from . import literals
from .errors import Coord, UnsupportedConstruct

__all__ = ["constant", "converted", "evaluate"]


class _Model(NamedTuple):
    """What platforms choose: bits of ``long`` and of pointers, and whether ``char`` has a sign."""

    long: int
    pointer: int
    char_signed: bool


#: Linux and macOS on x86-64 and on arm64; Windows, 64 and 32 bits.
_MODELS = (_Model(64, 64, True), _Model(64, 64, False), _Model(32, 64, True), _Model(32, 32, True))

_WIDTHS = {
    "signed char": (8, True), "unsigned char": (8, False), "short": (16, True), "unsigned short": (16, False),
    "int": (32, True), "signed": (32, True), "signed int": (32, True), "unsigned int": (32, False),
    "unsigned": (32, False), "long long": (64, True), "unsigned long long": (64, False),
    "int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True), "uint16_t": (16, False),
    "int32_t": (32, True), "uint32_t": (32, False), "int64_t": (64, True), "uint64_t": (64, False),
}  # fmt: skip

#: As wide as a pointer: do they have a sign?
_AS_POINTERS = {"size_t": False, "uintptr_t": False, "ssize_t": True, "ptrdiff_t": True, "intptr_t": True}

_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "&": operator.and_, "|": operator.or_, "^": operator.xor,
}  # fmt: skip

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


class _Value(NamedTuple):
    """A number with the C type it has: that decides what arithmetic does."""

    number: int
    bits: int = 32
    signed: bool = True

    def fits(self, number: int) -> bool:
        low, high = (-(1 << (self.bits - 1)), 1 << (self.bits - 1)) if self.signed else (0, 1 << self.bits)
        return low <= number < high


def evaluate(node: c_ast.Node, names: Mapping[str, int], coord: Coord) -> int:
    """The value that C gives the expression on every platform.

    Raises:
        UnsupportedConstruct: it is no constant integer here (sizeof, a call, an unknown name), C does not define it,
            or its value differs between platforms.
    """
    values = {_Evaluator(model, names, coord).value(node).number for model in _MODELS}
    if len(values) > 1:
        raise UnsupportedConstruct(coord, "expression", "its value differs between platforms")
    return values.pop()


def constant(node: c_ast.Node, names: Mapping[str, int], coord: Coord) -> int | float | str:
    """A string, a floating-point literal, or an integer expression.

    Raises:
        UnsupportedConstruct: as `evaluate`.
    """
    sign = 1
    if isinstance(node, c_ast.UnaryOp) and node.op in "+-" and _is_float(node.expr):
        sign, node = (-1 if node.op == "-" else 1), node.expr
    if _is_float(node):
        return sign * literals.floating(node.value, coord)
    if isinstance(node, c_ast.Constant) and node.type == "string":
        return literals.string(node.value, coord)
    return evaluate(node, names, coord)


def converted(value: int | float, name: str, coord: Coord) -> int | float:
    """A number in the scalar type that it is stored in."""
    if name == "float":
        return float(struct.unpack("f", struct.pack("f", value))[0])
    if name == "double":
        return float(value)
    if name == "bool":
        return int(bool(value))
    values = {_stored(int(value), _Evaluator(model, {}, coord).width(name)) for model in _MODELS}
    if len(values) > 1 or None in values:
        raise UnsupportedConstruct(coord, f"{name} {value}", "its value differs between platforms, or is no number")
    return values.pop() or 0


def _stored(value: int, width: tuple[int, bool] | None) -> int | None:
    return None if width is None else _wrap(value, *width).number


def _is_float(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Constant) and node.type in ("float", "double", "long double")


def _wrap(number: int, bits: int, signed: bool) -> _Value:
    number &= (1 << bits) - 1
    return _Value(number - (1 << bits) if signed and number >> (bits - 1) else number, bits, signed)


class _Evaluator:
    def __init__(self, model: _Model, names: Mapping[str, int], coord: Coord) -> None:
        self.model = model
        self.names = names
        self.coord = coord

    def refuse(self, construct: str, why: str) -> UnsupportedConstruct:
        return UnsupportedConstruct(self.coord, construct, why)

    def value(self, node: c_ast.Node) -> _Value:
        match node:
            case c_ast.Constant():
                return self.constant(node)
            case c_ast.ID():
                return self.name(node.name)
            case c_ast.UnaryOp():
                return self.unary(node)
            case c_ast.BinaryOp():
                return self.binary(node)
            case c_ast.TernaryOp():
                return self.ternary(node)
            case c_ast.Cast():
                return self.cast(node)
            case c_ast.FuncCall() if isinstance(node.name, c_ast.ID):
                raise self.refuse(f"{node.name.name}(...)", "it is not a constant integer expression")
        raise self.refuse(type(node).__name__, "it is not a constant integer expression")

    def promoted(self, node: c_ast.Node) -> _Value:
        value = self.value(node)
        return value if value.bits >= 32 else _Value(value.number)

    def constant(self, node: c_ast.Constant) -> _Value:
        if node.value.endswith("'"):
            return _Value(literals.character(node.value, self.coord))
        if node.type == "string" or _is_float(node):
            raise self.refuse(node.value, "it is not an integer")
        literal = literals.integer(node.value, self.coord)
        least = {0: 32, 1: self.model.long, 2: 64}[literal.longs]
        for bits, signed in ((32, True), (32, False), (64, True), (64, False)):  # C's list for a literal's type
            skipped = bits < least or (literal.unsigned and signed)
            skipped |= literal.decimal and not literal.unsigned and not signed
            if not skipped and _Value(0, bits, signed).fits(literal.value):
                return _Value(literal.value, bits, signed)
        raise self.refuse(node.value, "it does not fit the 64 bits that C has for it")

    def name(self, name: str) -> _Value:
        if name not in self.names:
            raise self.refuse(name, "this name is not a constant that was declared before")
        number = self.names[name]
        return _Value(number, 32, signed=number < 1 << 31)

    def unary(self, node: c_ast.UnaryOp) -> _Value:
        if node.op in ("sizeof", "_Alignof", "alignof"):
            raise self.refuse(node.op, "its value differs between platforms")
        value = self.promoted(node.expr)
        match node.op:
            case "-":
                return self.arithmetic("-", value._replace(number=0), value)
            case "+":
                return value
            case "~":
                return _wrap(~value.number, value.bits, value.signed)
            case "!":
                return _Value(int(not value.number))
        raise self.refuse(node.op, "it is not a constant operator")

    def binary(self, node: c_ast.BinaryOp) -> _Value:
        left = self.promoted(node.left)
        if node.op == "&&":
            return _Value(int(left.number != 0 and self.promoted(node.right).number != 0))
        if node.op == "||":
            return _Value(int(left.number != 0 or self.promoted(node.right).number != 0))
        right = self.promoted(node.right)
        if node.op in ("<<", ">>"):
            return self.shift(node.op, left, right.number)
        left, right = _common(left, right)
        if node.op in _COMPARISONS:
            return _Value(int(_COMPARISONS[node.op](left.number, right.number)))
        return self.arithmetic(node.op, left, right)

    def shift(self, op: str, left: _Value, by: int) -> _Value:
        if not 0 <= by < left.bits:
            raise self.refuse(f"shift by {by}", "C does not define it")
        if op == ">>":
            return left._replace(number=left.number >> by)
        number = left.number << by
        # Into the sign bit, as in 1 << 31, is what headers write and compilers agree on; beyond it is not.
        if left.signed and not -(1 << (left.bits - 1)) <= number < 1 << left.bits:
            raise self.refuse(f"{left.number} << {by}", "C does not define it")
        return _wrap(number, left.bits, left.signed)

    def arithmetic(self, op: str, left: _Value, right: _Value) -> _Value:
        a, b = left.number, right.number
        if op in ("/", "%"):
            if not b:
                raise self.refuse(f"{op} 0", "division by zero")
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # C rounds towards zero
            number = quotient if op == "/" else a - quotient * b
        elif op in _ARITHMETIC:
            number = _ARITHMETIC[op](a, b)
        else:
            raise self.refuse(op, "it is not a constant operator")
        if left.signed and not left.fits(number):
            raise self.refuse(f"{a} {op} {b}", "it overflows, which C does not define")
        return _wrap(number, left.bits, left.signed)

    def ternary(self, node: c_ast.TernaryOp) -> _Value:
        yes, no = _common(self.promoted(node.iftrue), self.promoted(node.iffalse))
        return yes if self.value(node.cond).number else no

    def cast(self, node: c_ast.Cast) -> _Value:
        value = self.value(node.expr)
        kind = node.to_type.type
        if isinstance(kind, c_ast.TypeDecl) and isinstance(kind.type, c_ast.IdentifierType):
            name = " ".join(kind.type.names)
            if name in ("bool", "_Bool"):
                return _Value(int(bool(value.number)))
            width = self.width(name)
            if width is not None:
                return _wrap(value.number, *width)
        raise self.refuse("cast", "only casts to C's own integer types are evaluated")

    def width(self, name: str) -> tuple[int, bool] | None:
        """Bits and sign of an integer type."""
        if name == "char":
            return 8, self.model.char_signed
        if name in ("long", "unsigned long"):
            return self.model.long, name == "long"
        if name in _AS_POINTERS:
            return self.model.pointer, _AS_POINTERS[name]
        return _WIDTHS.get(name)


def _common(left: _Value, right: _Value) -> tuple[_Value, _Value]:
    """Both in the type that C's usual conversions give them."""
    bits = max(left.bits, right.bits)
    signed = all(value.signed for value in (left, right) if value.bits == bits)
    return _wrap(left.number, bits, signed), _wrap(right.number, bits, signed)
