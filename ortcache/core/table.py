"""The function tables of a loaded library: each C function by its name, resolved on first use."""

from __future__ import annotations

import ctypes
import difflib
from collections.abc import Callable
from typing import Any

from .. import raw
from ..errors import ClosedError, ProposedFunctionError, UnsupportedFunctionError
from ..raw._support import PROPOSED, Slot, bindings
from .handle import Handle
from .status import Statuses

__all__ = ["RawTable", "Table"]

_POINTER = ctypes.sizeof(ctypes.c_void_p)


class RawTable:
    """The functions of a table as ctypes function pointers: nothing is checked but that the library has them.

    Args:
        struct: the table's C name.
        address: where it is.
        api_version: slots newer than this are not there.
        library: the library in words, for messages.
    """

    def __init__(self, struct: str, address: int, api_version: int, library: str) -> None:
        self._struct = struct
        self._address = address
        self._api_version = api_version
        self._library = library
        self._replaced: set[str] = set()

    def replace(self, name: str, function: Any) -> None:
        """Use a function in place of the library's own. It must come before anybody asked for that name."""
        self._replaced.add(name)
        self.__dict__[name] = function

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        pointer = self._slot_pointer(name)
        function = bindings().prototype(self._struct, name)(pointer)
        self.__dict__[name] = function  # the next access does not come here
        return function

    def __dir__(self) -> list[str]:
        return [name for name in bindings().slots(self._struct) if self.holds(name)]

    def __repr__(self) -> str:
        return f"<{self._struct} of {self._library}, API version {self._api_version}>"

    def holds(self, name: str) -> bool:
        """Can the function be called on this library?"""
        if name in self._replaced:
            return True
        found = bindings().slots(self._struct).get(name)
        return found is not None and self._reason(name, found[1]) is None and bool(self._read(found[0]))

    def _slot_pointer(self, name: str) -> int:
        found = bindings().slots(self._struct).get(name)
        if found is None:
            raise AttributeError(f"{self._struct} has no function {name!r}{self._hint(name)}")
        index, slot = found
        reason = self._reason(name, slot)
        if reason is not None:
            raise reason
        pointer = self._read(index)
        if not pointer:
            raise UnsupportedFunctionError(f"{self._struct}.{name} is NULL in {self._library}: that build left it out")
        return pointer

    def _read(self, index: int) -> int:
        return ctypes.c_void_p.from_address(self._address + index * _POINTER).value or 0

    def _reason(self, name: str, slot: Slot) -> UnsupportedFunctionError | None:
        if slot.placeholder:
            return UnsupportedFunctionError(
                f"{self._struct}.{name} only keeps the layout: its name and parameters are not known, so it cannot be "
                "called"
            )
        if slot.since == PROPOSED:
            return ProposedFunctionError(
                f"{self._struct}.{name} is proposed upstream and in no release; {self._library} does not have it"
            )
        if isinstance(slot.since, int) and slot.since > self._api_version:
            return UnsupportedFunctionError(
                f"{self._struct}.{name} is there since ONNX Runtime 1.{slot.since}; the loaded library is "
                f"{self._library} (API version {self._api_version}). Install onnxruntime>=1.{slot.since}."
            )
        return None

    def _hint(self, name: str) -> str:
        close = difflib.get_close_matches(name, bindings().slots(self._struct), 1)
        return f"; did you mean {close[0]}?" if close else ""


class Table:
    """The same functions, checked: an OrtStatus that is not NULL becomes an OrtError, and is released.

    A function that gives an OrtStatus returns None here; an enum result comes as its enum.

    Attributes:
        raw: the unchecked functions.
    """

    def __init__(self, raw_table: RawTable, statuses: Statuses, others: Callable[[str], Any] | None = None) -> None:
        self.raw = raw_table
        self._statuses = statuses
        self._others = others  # where to look for a name that this table does not have

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = bindings().slots(self.raw._struct).get(name)
        if found is None and self._others is not None:
            function = self._others(name)
            if function is not None:
                return function
        self.__dict__[name] = function = self._checked(name)
        return function

    def __dir__(self) -> list[str]:
        return ["raw", *dir(self.raw)]

    def __repr__(self) -> str:
        return repr(self.raw)

    def _checked(self, name: str) -> Callable[..., Any]:
        function = getattr(self.raw, name)
        slot = bindings().slots(self.raw._struct)[name][1]
        statuses = self._statuses
        convert = _converter(slot.returns)
        count = len(slot.params.split(", ")) if slot.params else 0

        def call(*args: Any) -> Any:
            try:
                if len(args) != count:  # ctypes would pass more arguments than C has
                    raise TypeError(f"{len(args)} arguments were given")
                result = function(*args)
            except (ctypes.ArgumentError, TypeError) as problem:
                raise _refusal(slot, args, problem) from None
            return result if convert is None else convert(result)

        def call_status(*args: Any) -> None:
            try:
                if len(args) != count:
                    raise TypeError(f"{len(args)} arguments were given")
                status = statuses.call(function, args)
            except (ctypes.ArgumentError, TypeError) as problem:
                raise _refusal(slot, args, problem) from None
            try:
                if status:
                    raise statuses.error(status, name)  # not by a name, which would hold it in a circle
            finally:
                statuses.settle()

        # GetErrorMessage and the like take a status; what hands one out as its result is a report.
        reports = slot.returns == "OrtStatus*" and name != "CreateStatus"
        checked = call_status if reports else call
        checked.__name__ = checked.__qualname__ = name
        checked.__doc__ = f"``{slot.signature}``\n\nSince ONNX Runtime 1.{slot.since}."
        return checked


def _refusal(slot: Slot, args: tuple[Any, ...], problem: Exception) -> Exception:
    """What to raise where ctypes does not take the arguments: it hides why a wrapper gives no pointer."""
    for argument in args:
        if isinstance(argument, Handle) and argument.closed:
            try:
                argument._as_parameter_  # noqa: B018
            except ClosedError as error:
                return error
    return TypeError(f"{slot.signature}: {problem}")


def _converter(returns: str) -> Callable[[int], int] | None:
    enum = getattr(raw, returns, None) if returns.isidentifier() else None
    if not isinstance(enum, type) or not issubclass(enum, int):
        return None

    def convert(value: int) -> int:
        try:
            return enum(value)
        except ValueError:  # a newer library's
            return value

    return convert
