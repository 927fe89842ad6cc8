"""What a session takes and gives, prepared so that a run looks nothing up twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.marshal import strings
from ..errors import InputError
from .typeinfo import Kind, ValueInfo

__all__ = ["Inputs", "Outputs", "Slot"]

_MOST = 64  # choices of names that are remembered


class Slot:
    """One input or output.

    Attributes:
        info: its name and type.
        plain: is it a tensor whose memory numpy can use as it is?
        dtype: a plain one's.
        code: a plain one's element type in C.
    """

    __slots__ = ("code", "dtype", "info", "optional", "plain")

    def __init__(self, info: ValueInfo) -> None:
        element = info.info.element
        self.info = info
        self.optional = info.info.kind == Kind.ONNX_TYPE_OPTIONAL
        self.plain = info.info.kind == Kind.ONNX_TYPE_TENSOR and element is not None and element.plain
        self.dtype: Any = element.dtype if self.plain and element is not None else None
        self.code = element.code if element is not None else 0


class _Names:
    """The slots for names, and the names for C: worked out once for each choice of names."""

    def __init__(self, infos: Iterable[ValueInfo]) -> None:
        self.slots = {info.name: Slot(info) for info in infos}
        self._chosen: dict[tuple[Any, ...], tuple[list[Slot], Any]] = {}

    def _choose(self, names: tuple[Any, ...]) -> tuple[list[Slot], Any]:
        found = self._chosen.get(names)
        if found is None:
            self._check(names)
            found = [self.slots[name] for name in names], strings(names)
            if len(self._chosen) >= _MOST:
                self._chosen.clear()
            self._chosen[names] = found
        return found

    def _check(self, names: tuple[Any, ...]) -> None:
        raise NotImplementedError


class Inputs(_Names):
    """The inputs, and the initializers that a feed of their name replaces."""

    def __init__(self, required: Iterable[ValueInfo], overridable: Iterable[ValueInfo]) -> None:
        required = tuple(required)
        super().__init__((*required, *overridable))
        self._required = [info.name for info in required if info.info.kind != Kind.ONNX_TYPE_OPTIONAL]
        self._has_optional = len(self._required) < len(required)

    def choose(self, feeds: Mapping[str, Any]) -> tuple[list[Slot], Any, dict[str, Any]]:
        """The slots, C names and data of the feeds. An optional that is None is not fed.

        Raises:
            InputError: one is missing, or not known.
        """
        given = dict(feeds)  # what is fed now stays, whatever another thread does to the mapping
        if self._has_optional:
            given = {name: data for name, data in given.items() if data is not None or not self._is_optional(name)}
        return (*self._choose(tuple(given)), given)

    def _is_optional(self, name: str) -> bool:
        return name in self.slots and self.slots[name].optional

    def _check(self, names: tuple[Any, ...]) -> None:
        missing = [name for name in self._required if name not in names]
        if missing:
            given = f"only {', '.join(map(str, names))} was" if names else "none was"
            raise InputError(f"the model needs the inputs {', '.join(missing)} too; {given} given")
        unknown = [name for name in names if name not in self.slots]
        if unknown:
            raise InputError(f"the model has no input {unknown[0]!r}; it has {', '.join(self.slots)}")


class Outputs(_Names):
    """The outputs."""

    def __init__(self, infos: Iterable[ValueInfo], inputs: Inputs) -> None:
        super().__init__(infos)
        self.names = tuple(self.slots)
        #: Those that are inputs handed through: ORT gives the feed's own memory for them.
        self.passed = frozenset(self.names) & frozenset(inputs.slots)
        self._all = self._choose(self.names)
        self.c_names = self._all[1]

    def choose(self, names: Any) -> tuple[list[Slot], Any]:
        """The slots and C names for output names; None or none for all.

        Raises:
            InputError: one is not known.
        """
        if isinstance(names, (str, bytes)):
            raise TypeError("the output names must be a list of names, not one string")
        chosen = () if names is None else tuple(names)
        return self._choose(chosen) if chosen else self._all

    def _check(self, names: tuple[Any, ...]) -> None:
        for name in names:
            if name not in self.slots:
                raise InputError(f"the model has no output {name!r}; it has {', '.join(self.slots)}")
