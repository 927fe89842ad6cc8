"""What the generated declarations run on: C type text to ctypes types, built on first use.

The generated modules hold C signatures as text: of ctypes, only what is asked for is made, and what it reaches.
"""

from __future__ import annotations

import ctypes
import importlib
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

__all__ = ["LOCK", "PROPOSED", "Bindings", "Slot", "bindings", "declarations", "lookup", "names"]

#: Around the making of types. The collector may run something that asks for them, on the thread that makes them.
LOCK = threading.RLock()

#: In place of a since-version: a slot that no release has.
PROPOSED = "proposed"

_SCALARS: dict[str, Any] = {
    "bool": ctypes.c_bool, "char": ctypes.c_char, "signed char": ctypes.c_byte, "unsigned char": ctypes.c_ubyte,
    "wchar_t": ctypes.c_wchar, "short": ctypes.c_short, "unsigned short": ctypes.c_ushort, "int": ctypes.c_int,
    "unsigned int": ctypes.c_uint, "long": ctypes.c_long, "unsigned long": ctypes.c_ulong,
    "long long": ctypes.c_longlong, "unsigned long long": ctypes.c_ulonglong, "float": ctypes.c_float,
    "double": ctypes.c_double, "long double": ctypes.c_longdouble, "size_t": ctypes.c_size_t,
    "ssize_t": ctypes.c_ssize_t, "ptrdiff_t": ctypes.c_ssize_t, "intptr_t": ctypes.c_ssize_t,
    "uintptr_t": ctypes.c_size_t, "int8_t": ctypes.c_int8, "int16_t": ctypes.c_int16, "int32_t": ctypes.c_int32,
    "int64_t": ctypes.c_int64, "uint8_t": ctypes.c_uint8, "uint16_t": ctypes.c_uint16, "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
}  # fmt: skip


class Slot(NamedTuple):
    """A member of a struct as the generator wrote it down.

    ``since`` is an API version (24 is ORT 1.24), `PROPOSED` for what no release has, None where it is not known.
    ``params`` is None for a data member.
    """

    name: str
    since: int | str | None
    returns: str
    params: str | None = None

    @property
    def placeholder(self) -> bool:
        """Is it there only for the layout?"""
        return self.name.startswith("placeholder_")

    @property
    def signature(self) -> str:
        """The declaration as C."""
        parameters = "" if self.params is None else f"({self.params})"
        return f"{self.returns} {self.name}{parameters}"


class Bindings:
    """ctypes types for one platform, from one set of declarations.

    Args:
        structs: struct name to its rows; ``unions``, ``packed`` and ``anonymous`` say what is special about some.
        callbacks: function-pointer type name to (convention, result, parameters).
        handles: structs that are only declared.
        enums: enum name to whether C gives it an unsigned type.
        stdcall: makes the function-pointer type of ORT_API_CALL functions.
        path_char: what ORTCHAR_T is.
    """

    def __init__(
        self,
        *,
        structs: Mapping[str, tuple[tuple[Any, ...], ...]],
        unions: frozenset[str],
        packed: Mapping[str, int],
        anonymous: Mapping[str, tuple[str, ...]],
        callbacks: Mapping[str, tuple[str, str, str]],
        handles: frozenset[str],
        enums: Mapping[str, bool],
        stdcall: Callable[..., Any] | None = None,
        path_char: Any = None,
    ) -> None:
        windows = sys.platform == "win32"
        self._structs = structs
        self._unions = unions
        self._packed = packed
        self._anonymous = anonymous
        self._callbacks = callbacks
        self._handles = handles
        self._enums = enums
        self.stdcall = stdcall or (ctypes.WINFUNCTYPE if windows else ctypes.CFUNCTYPE)  # type: ignore[attr-defined]
        self._path_char = path_char or (ctypes.c_wchar if windows else ctypes.c_char)
        self._classes: dict[str, Any] = {}
        self._types: dict[str, Any] = {}
        self._pending: list[str] = []  # classes whose fields are not set yet
        self._tables: dict[str, dict[str, tuple[int, Slot]]] = {}

    # What is declared.

    def slots(self, struct: str) -> dict[str, tuple[int, Slot]]:
        """The members of a struct, by name, each with its index."""
        if struct not in self._tables:
            self._tables[struct] = {row[0]: (i, Slot(*row)) for i, row in enumerate(self._structs[struct])}
        return self._tables[struct]

    def names(self) -> Iterator[str]:
        """Everything that `get` knows."""
        yield from self._structs
        yield from self._callbacks
        yield from self._handles

    # Types.

    def get(self, name: str) -> Any:
        """A struct, handle or callback type by its C name.

        Raises:
            KeyError: no such type is declared.
        """
        with LOCK:
            if name in self._callbacks:
                return self._complete(self._callback(name))
            if name in self._structs or name in self._handles:
                return self._complete(self._declare(name))
            raise KeyError(name)

    def type(self, text: str) -> Any:
        """The ctypes type for C type text such as ``const char* const*``; None for void."""
        with LOCK:
            return self._complete(self._type(text))

    def prototype(self, struct: str, name: str, *, implemented: bool = False) -> Any:
        """The function-pointer type of one slot: to call it, or to make one of a Python function."""
        with LOCK:
            slot = self.slots(struct)[name][1]
            if slot.params is None:
                raise TypeError(f"{struct}.{name} is no function")
            called = _is_table(struct) and not implemented
            return self._complete(self._function("stdcall", slot.returns, slot.params, called=called))

    def _complete(self, result: Any) -> Any:
        """Set the fields of every class that is still without: a pointer to one must never be followed before."""
        while self._pending:
            self._set_fields(self._pending.pop())
        return result

    def _declare(self, name: str) -> Any:
        if name not in self._classes:
            if name not in self._structs and name not in self._handles:
                raise KeyError(f"no type named {name!r} is declared")
            base = ctypes.Union if name in self._unions else ctypes.Structure
            self._classes[name] = type(name, (base,), {"__module__": "ortcache.raw"})
            if name in self._structs:
                self._pending.append(name)
        return self._classes[name]

    def _set_fields(self, name: str) -> None:
        cls = self._classes[name]
        if "_fields_" in cls.__dict__:
            return
        if name in self._packed:
            cls._pack_ = self._packed[name]
            cls._layout_ = "ms"  # the only one that can be packed; Python 3.14 wants it said
        if name in self._anonymous:
            cls._anonymous_ = self._anonymous[name]
        cls._fields_ = [self._field(name, Slot(*row)) for row in self._structs[name]]

    def _field(self, struct: str, slot: Slot) -> tuple[Any, ...]:
        if slot.params is not None:
            return slot.name, self._function("stdcall", slot.returns, slot.params, called=_is_table(struct))
        text, _, bits = slot.returns.partition(":")
        base = text.partition("[")[0].removeprefix("const ")
        if base in self._structs and "*" not in text:  # by value: its size is needed now
            self._declare(base)
            self._set_fields(base)
        return (slot.name, self._type(text), int(bits)) if bits else (slot.name, self._type(text))

    def _type(self, text: str) -> Any:
        if text not in self._types:
            self._types[text] = self._make_type(text)
        return self._types[text]

    def _make_type(self, text: str) -> Any:
        text, *dims = text.replace("]", "").split("[")
        base = text.rstrip("* ").removesuffix(" const")
        while base.endswith("*"):
            base = base.rstrip("* ").removesuffix(" const")
        stars = text.count("*")
        result, stars = self._pointed(base.removeprefix("const "), base.startswith("const "), stars)
        for _ in range(stars):
            result = ctypes.POINTER(result)
        for size in reversed(dims):
            result = result * int(size)
        return result

    def _pointed(self, base: str, const: bool, stars: int) -> tuple[Any, int]:
        """The innermost type, and how many pointers are left to wrap around it."""
        if stars and base == "void":
            return ctypes.c_void_p, stars - 1
        if base == "void":
            return None, 0
        scalar = self._path_char if base == "ORTCHAR_T" else _SCALARS.get(base)
        # A const string converts from and to Python's own; one that is not const is memory to fill or to free.
        if stars and const and scalar is ctypes.c_char:
            return ctypes.c_char_p, stars - 1
        if stars and const and scalar is ctypes.c_wchar:
            return ctypes.c_wchar_p, stars - 1
        if scalar is not None:
            return scalar, stars
        if base in self._enums:
            return (ctypes.c_uint if self._enums[base] else ctypes.c_int), stars
        if base in self._callbacks:
            return self._callback(base), stars
        return self._declare(base), stars

    def _callback(self, name: str) -> Any:
        convention, returns, params = self._callbacks[name]
        if name not in self._types:
            prototype = self._function(convention, returns, params, called=False)
            parts = {part: getattr(prototype, part) for part in ("_flags_", "_restype_", "_argtypes_")}
            # A class of its own, so that it carries its C name and is not mistaken for another of that signature.
            members = {**parts, "__module__": "ortcache.raw", "from_param": classmethod(_callback_argument)}
            self._types[name] = type(name, (prototype,), members)
        return self._types[name]

    def _function(self, convention: str, returns: str, params: str, *, called: bool) -> Any:
        make = self.stdcall if convention == "stdcall" else ctypes.CFUNCTYPE
        arguments = [self._type(p.rpartition(" ")[0]) for p in params.split(", ")] if params else []
        return make(self._result(returns, called), *arguments)

    def _result(self, text: str, called: bool) -> Any:
        """A result's type: ctypes cannot return a typed pointer from a callback, so there it is an address."""
        if "*" in text and not called:
            return ctypes.c_void_p
        return self._type(text)


def _callback_argument(cls: Any, value: Any) -> Any:
    """None for a NULL callback, as for any other pointer; ctypes itself wants an empty instance."""
    return cls() if value is None else type(cls).from_param(cls, value)


def _is_table(struct: str) -> bool:
    """Does ORT fill this struct in, for us to call? The others an EP or an application fills in."""
    return struct.endswith(("Api", "ApiBase"))


_bindings: Bindings | None = None


def bindings() -> Bindings:
    """The bindings for the platform this runs on."""
    global _bindings
    if _bindings is None:
        with LOCK:
            _bindings = _bindings or Bindings(**declarations())
    return _bindings


def declarations() -> dict[str, Any]:
    """The generated declarations, as `Bindings` takes them."""
    from . import _declarations as declared

    return {
        "structs": declared.STRUCTS,
        "unions": declared.UNIONS,
        "packed": declared.PACKED,
        "anonymous": declared.ANONYMOUS,
        "callbacks": declared.CALLBACKS,
        "handles": declared.HANDLES,
        "enums": declared.ENUMS,
    }


def lookup(name: str) -> Any:
    """Anything that is declared, by its C name; AttributeError where it is not."""
    if not name.startswith("_"):
        for module in _named_modules():
            if name in module.__all__:
                return getattr(module, name)
        try:
            return bindings().get(name)
        except KeyError:
            pass
    raise AttributeError(f"module {__package__!r} has no attribute {name!r}")


def names() -> Iterator[str]:
    """Every name that `lookup` finds."""
    for module in _named_modules():
        yield from module.__all__
    yield from bindings().names()


def _named_modules() -> tuple[Any, Any]:
    # By import_module: `from . import enums` would ask the package for it, and so come back here.
    return importlib.import_module(f"{__package__}.enums"), importlib.import_module(f"{__package__}.constants")
