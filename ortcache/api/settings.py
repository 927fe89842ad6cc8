"""One setting of session or run options: a property whose value is checked, handed to C and remembered."""

from __future__ import annotations

import difflib
import operator
import os
from collections.abc import Callable
from enum import Enum, IntEnum
from typing import Any, Generic, TypeVar, overload

from ..core.marshal import path_argument, string
from ..errors import InputError
from .logging import log_level

__all__ = ["Setting", "apply_settings", "count", "flag", "member", "optional_path", "path_text", "severity", "text"]

T = TypeVar("T")
E = TypeVar("E", bound=IntEnum)
_INT_MAX = 2**31 - 1


class Setting(Generic[T]):
    """A property of options. C has few functions to read settings back, so what was set is remembered.

    Args:
        default: what ORT takes where nothing was set.
        check: the value and the setting's name to the value that is kept; raises for a wrong one.
        apply: hands a checked value to C.
        doc: what it is for.
        read: reads it back from C; None where the library has no function for it.
    """

    def __init__(
        self,
        default: T,
        check: Callable[[Any, str], T],
        apply: Callable[[Any, T], object],
        doc: str,
        read: Callable[[Any], T | None] | None = None,
    ) -> None:
        self._default = default
        self._check = check
        self._apply = apply
        self._read = read
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, options: None, owner: type) -> Setting[T]: ...
    @overload
    def __get__(self, options: Any, owner: type) -> T: ...
    def __get__(self, options: Any, owner: type) -> Any:
        if options is None:
            return self
        options._pointer  # noqa: B018  raises where they are closed
        read = self._read(options) if self._read else None
        return options._values.get(self._name, self._default) if read is None else read

    def __set__(self, options: Any, value: Any) -> None:
        checked = self._check(value, self._name)
        self._apply(options, checked)
        options._values[self._name] = checked


def apply_settings(options: Any, settings: dict[str, Any]) -> None:
    """Set properties by name; TypeError, with a suggestion, for a name that is none."""
    for name, value in settings.items():
        known = settable(type(options))
        if name not in known:
            raise TypeError(f"{type(options).__name__} has no setting {name!r}{hint(name, known)}")
        setattr(options, name, value)


def settable(kind: type) -> list[str]:
    """The names of a class's settings."""
    public = [name for name in dir(kind) if not name.startswith("_")]
    return [name for name in public if hasattr(getattr(kind, name), "__set__") and _has_setter(getattr(kind, name))]


def hint(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(known)}"


def _has_setter(attribute: Any) -> bool:
    return not isinstance(attribute, property) or attribute.fset is not None


# What checks a value: each takes it with the setting's name, and gives what C takes.


def count(value: Any, what: str) -> int:
    """A whole number from 0 up."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise TypeError(f"{what} must be a whole number, not {value!r}")
    if not 0 <= number <= _INT_MAX:
        raise InputError(f"{what} must be from 0 to {_INT_MAX}, not {number}")
    return number


def flag(value: Any, what: str) -> bool:
    if not isinstance(value, int) or value not in (0, 1):  # a str such as "false" would be taken for True
        raise TypeError(f"{what} must be True or False, not {value!r}")
    return bool(value)


def text(value: Any, what: str) -> str:
    return string(value, what).decode()


def path_text(value: Any, what: str) -> str:
    return os.fsdecode(path_argument(value, what))


def optional_path(value: Any, what: str) -> str:
    """A path; empty or None for none."""
    return "" if value is None or value == "" else path_text(value, what)


def severity(value: Any, what: str) -> int:
    """An OrtLoggingLevel by number or name; -1 for the environment's."""
    if isinstance(value, str):
        return log_level(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{what} must be a level's number or name, not {value!r}")
    return -1 if value == -1 else log_level(value)


def member(kind: type[E]) -> Callable[[Any, str], E]:
    """What checks a value of an enum: a member, its number, its C name, or that name without what all share."""
    shared = (f"{kind.__name__}_", "ORT_ENABLE_", "ORT_")
    names: dict[str, E] = {}
    for item in kind:
        names[item.name.lower()] = item
        names.update({item.name.removeprefix(p).lower(): item for p in shared if item.name.startswith(p)})

    def check(value: Any, what: str) -> E:
        if isinstance(value, str):
            if value.lower() not in names:
                raise InputError(f"{what} {value!r} is not one of {', '.join(sorted(names))}")
            return names[value.lower()]
        if isinstance(value, (bool, Enum)) and not isinstance(value, kind):
            raise TypeError(f"{what} must be a {kind.__name__}, not {value!r}")
        try:
            return kind(operator.index(value))
        except TypeError:
            raise TypeError(f"{what} must be a {kind.__name__}, its number or name, not {value!r}") from None
        except ValueError:
            known = ", ".join(f"{int(item)} ({item.name})" for item in kind)
            raise InputError(f"{what} {value!r} is not one of {known}") from None

    return check
