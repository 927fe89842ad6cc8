"""Integer constant expressions of C, as enumerators, array sizes and macros use them."""

from __future__ import annotations

from collections.abc import Mapping

from pycparser import c_ast

from .errors import Coord, UnsupportedConstruct

__all__ = ["character", "evaluate", "integer"]

_ESCAPES = {"n": 10, "t": 9, "r": 13, "0": 0, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63}

#: Width in bits and signedness of what a cast may name. ``long`` is left out: it differs between platforms.
_CASTS = {
    "char": (8, True), "signed char": (8, True), "unsigned char": (8, False),
    "short": (16, True), "unsigned short": (16, False), "int": (32, True), "unsigned int": (32, False),
    "unsigned": (32, False), "long long": (64, True), "unsigned long long": (64, False),
    "int8_t": (8, True), "uint8_t": (8, False), "int16_t": (16, True), "uint16_t": (16, False),
    "int32_t": (32, True), "uint32_t": (32, False), "int64_t": (64, True), "uint64_t": (64, False),
    "size_t": (64, False), "uintptr_t": (64, False), "intptr_t": (64, True), "ptrdiff_t": (64, True),
}  # fmt: skip


class _Value(int):
    """An int that remembers the C type it has: that decides where arithmetic wraps."""

    bits: int
    signed: bool

    def __new__(cls, value: int, bits: int = 32, signed: bool = True) -> _Value:
        value &= (1 << bits) - 1
        if signed and value >> (bits - 1):
            value -= 1 << bits
        self = super().__new__(cls, value)
        self.bits, self.signed = bits, signed
        return self


def evaluate(node: c_ast.Node, names: Mapping[str, int], coord: Coord) -> int:
    """The value C gives the expression, wrapped to its type.

    Raises:
        UnsupportedConstruct: something that is not a constant integer here (sizeof, a call, an unknown name).
    """
    return int(_eval(node, names, coord))


def _eval(node: c_ast.Node, names: Mapping[str, int], coord: Coord) -> _Value:
    match node:
        case c_ast.Constant():
            return _constant(node, coord)
        case c_ast.ID():
            if node.name not in names:
                raise UnsupportedConstruct(coord, node.name, "this name is not a constant that was declared before")
            value = names[node.name]
            return _Value(value) if -(1 << 31) <= value < 1 << 31 else _typed(value, "LL", coord)
        case c_ast.UnaryOp():
            return _unary(node, names, coord)
        case c_ast.BinaryOp():
            return _binary(node, names, coord)
        case c_ast.TernaryOp():
            chosen = node.iftrue if _eval(node.cond, names, coord) else node.iffalse
            return _eval(chosen, names, coord)
        case c_ast.Cast():
            return _cast(node, names, coord)
    raise UnsupportedConstruct(coord, type(node).__name__, "it is not a constant integer expression")


def _constant(node: c_ast.Constant, coord: Coord) -> _Value:
    if node.type == "char":
        return _Value(character(node.value, coord))
    if node.type == "float" or "float" in node.type or "double" in node.type or node.type == "string":
        raise UnsupportedConstruct(coord, node.value, "it is not an integer")
    return integer(node.value, coord)


def integer(text: str, coord: Coord) -> _Value:
    """A C integer literal, with its suffix and base."""
    digits = text.rstrip("uUlL")
    suffix = text[len(digits) :].upper().replace("LLU", "ULL").replace("LU", "UL")
    if digits[:2].lower() == "0x":
        value = int(digits, 16)
    elif digits[:2].lower() == "0b":
        value = int(digits[2:], 2)
    elif digits.startswith("0") and len(digits) > 1:
        value = int(digits, 8)
    else:
        value = int(digits)
    return _typed(value, suffix, coord, decimal=not digits.startswith("0"))


def _typed(value: int, suffix: str, coord: Coord, decimal: bool = True) -> _Value:
    """The first type of C's list for that literal which holds the value."""
    unsigned, wide = "U" in suffix, "L" in suffix
    for bits, signed in ((32, True), (32, False), (64, True), (64, False)):
        if (wide and bits == 32) or (unsigned and signed) or (decimal and not unsigned and not signed):
            continue
        if (-(1 << (bits - 1)) if signed else 0) <= value < (1 << (bits - signed)):
            return _Value(value, bits, signed)
    raise UnsupportedConstruct(coord, str(value), "it does not fit the 64 bits that C has for it")


def character(text: str, coord: Coord) -> int:
    """A character constant: plain ASCII or one escape."""
    body = text[text.index("'") + 1 : -1]
    if len(body) == 1 and ord(body) < 128:
        return ord(body)
    if body.startswith("\\x"):
        value = int(body[2:], 16)
    elif body[0] == "\\" and body[1:].isdigit():
        value = int(body[1:], 8)
    elif body[0] == "\\" and body[1:] in _ESCAPES:
        value = _ESCAPES[body[1:]]
    else:
        raise UnsupportedConstruct(coord, text, "its value is up to the compiler")
    return int(_Value(value, 8))


def _unary(node: c_ast.UnaryOp, names: Mapping[str, int], coord: Coord) -> _Value:
    if node.op == "sizeof":
        raise UnsupportedConstruct(coord, "sizeof", "its value differs between platforms")
    value = _promoted(_eval(node.expr, names, coord))
    match node.op:
        case "-":
            return _Value(-value, value.bits, value.signed)
        case "+":
            return value
        case "~":
            return _Value(~value, value.bits, value.signed)
        case "!":
            return _Value(not value)
    raise UnsupportedConstruct(coord, node.op, "it is not a constant operator")


def _binary(node: c_ast.BinaryOp, names: Mapping[str, int], coord: Coord) -> _Value:
    left = _promoted(_eval(node.left, names, coord))
    if node.op == "&&":
        return _Value(bool(left and _eval(node.right, names, coord)))
    if node.op == "||":
        return _Value(bool(left or _eval(node.right, names, coord)))
    right = _promoted(_eval(node.right, names, coord))
    if node.op in ("<<", ">>"):
        if not 0 <= right < left.bits:
            raise UnsupportedConstruct(coord, f"shift by {int(right)}", "C does not define it")
        return _Value(left << right if node.op == "<<" else left >> right, left.bits, left.signed)
    bits = max(left.bits, right.bits)
    signed = all(v.signed for v in (left, right) if v.bits == bits)
    a, b = _Value(left, bits, signed), _Value(right, bits, signed)
    comparisons = {"==": a == b, "!=": a != b, "<": a < b, ">": a > b, "<=": a <= b, ">=": a >= b}
    if node.op in comparisons:
        return _Value(comparisons[node.op])
    if node.op in ("/", "%"):
        return _divide(node.op, a, b, coord)
    results = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}
    if node.op not in results:
        raise UnsupportedConstruct(coord, node.op, "it is not a constant operator")
    return _Value(results[node.op], bits, signed)


def _divide(op: str, a: _Value, b: _Value, coord: Coord) -> _Value:
    if not b:
        raise UnsupportedConstruct(coord, f"{op} 0", "division by zero")
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)  # C rounds towards zero
    return _Value(quotient if op == "/" else int(a) - quotient * int(b), a.bits, a.signed)


def _cast(node: c_ast.Cast, names: Mapping[str, int], coord: Coord) -> _Value:
    target = node.to_type.type
    if isinstance(target, c_ast.TypeDecl) and isinstance(target.type, c_ast.IdentifierType):
        name = " ".join(target.type.names)
        if name in ("bool", "_Bool"):
            return _Value(bool(_eval(node.expr, names, coord)))
        if name in _CASTS:
            return _Value(_eval(node.expr, names, coord), *_CASTS[name])
    raise UnsupportedConstruct(coord, "cast", "only casts to integer types of one size everywhere have a value here")


def _promoted(value: _Value) -> _Value:
    return value if value.bits >= 32 else _Value(int(value))
