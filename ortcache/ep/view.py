"""Read-only views of C objects that are ORT's, valid during one call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

from .. import raw
from ..core.native import Native
from ..core.status import address
from ..errors import ClosedError

__all__ = ["Scope", "View", "decode", "fact"]

T = TypeVar("T")
V = TypeVar("V", bound="View")


class Scope:
    """One call, and the views that were made during it. As a context manager it ends them."""

    def __init__(self, native: Native) -> None:
        self.native = native
        self.alive = True
        self._views: dict[tuple[type[View], int], Any] = {}

    def __enter__(self) -> Scope:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.alive = False
        self._views.clear()

    def view(self, kind: type[V], pointer: Any) -> V:
        """The view of a C object: the same one each time."""
        at = address(pointer)
        if at is None:
            raise ValueError(f"ORT gave NULL for a {kind.__name__}")
        key = kind, at
        if key not in self._views:
            self._views[key] = kind(self, ctypes.cast(at, ctypes.POINTER(getattr(raw, kind.struct))))
        found: V = self._views[key]
        return found

    def optional(self, kind: type[V], pointer: Any) -> V | None:
        """The same; None for NULL."""
        return self.view(kind, pointer) if pointer else None


class View:
    """The base of the views. Each use of one after its call raises ClosedError."""

    struct = ""  # the C object's type

    def __init__(self, scope: Scope, pointer: Any) -> None:
        self._scope = scope
        self._here = pointer
        self._facts: dict[str, Any] = {}

    @property
    def _pointer(self) -> Any:
        if not self._scope.alive:
            raise ClosedError(
                f"this {type(self).__name__} was valid only during the call that it was made for: take what you need "
                "from it then"
            )
        return self._here

    @property
    def _native(self) -> Native:
        return self._scope.native

    def _get(self, function: str, cell: Any, *args: Any) -> Any:
        """Call ``function(this, *args, &cell)``, and give the cell."""
        getattr(self._native.api, function)(self._pointer, *args, ctypes.byref(cell))
        return cell

    def _text(self, function: str) -> str:
        return decode(self._get(function, ctypes.c_char_p()).value)

    def _flag(self, function: str) -> bool:
        return bool(self._get(function, ctypes.c_bool()).value)

    def _array(self, count: str, items: str, struct: str) -> list[Any]:
        """An array of pointers, from the pair of functions that give its length and fill it."""
        size = self._get(count, ctypes.c_size_t()).value
        array = (ctypes.POINTER(getattr(raw, struct)) * size)()
        if size:
            getattr(self._native.api, items)(self._pointer, array, size)
        return list(array)

    def _views(self, count: str, items: str, kind: type[V]) -> tuple[V | None, ...]:
        return tuple(self._scope.optional(kind, pointer) for pointer in self._array(count, items, kind.struct))

    def _all(self, count: str, items: str, kind: type[V]) -> tuple[V, ...]:
        return tuple(view for view in self._views(count, items, kind) if view is not None)


class fact(Generic[T]):
    """A property of a view: read when it is first asked for, and dead with the view."""

    def __init__(self, read: Callable[[Any], T]) -> None:
        self._read = read
        self._name = read.__name__
        self.__doc__ = read.__doc__

    @overload
    def __get__(self, view: None, owner: Any) -> fact[T]: ...

    @overload
    def __get__(self, view: View, owner: Any) -> T: ...

    def __get__(self, view: View | None, owner: Any) -> fact[T] | T:
        if view is None:
            return self
        _ = view._pointer  # raises where it is dead
        if self._name not in view._facts:
            view._facts[self._name] = self._read(view)
        found: T = view._facts[self._name]
        return found


def decode(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "replace")
