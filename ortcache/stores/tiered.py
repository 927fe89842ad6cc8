"""Several stores in order, the quick one first."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NoReturn, Self, TypeVar

from ..errors import InputError, StoreError, StoreTimeoutError
from ..keys import check_key
from .breaker import RETRY_AFTER, Breaker
from .counted import Counted, StoreStats
from .events import Event, EventHook, EventKind
from .flat import flat
from .guarded import Guarded
from .late import LateStore
from .ledger import OnEvict
from .protocol import Buffer, Entry, Store, check_store, layers
from .readonly import is_read_only
from .stripes import Stripes
from .timed import Timed

__all__ = ["Level", "Tiered"]

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Level:
    """One of the stores of a `Tiered`.

    Attributes:
        store: it, or the URL or path of one, which is opened when it is first used: one that cannot be opened is then
            like one that is down.
        name: of its own among the levels; None for its number, from 1.
        read_only: nothing is put into it and nothing deleted; a store that is read-only anyway (`is_read_only`) need
            not be called so. A `Verified` store moves what is damaged aside all the same, unless it is opened with
            ``mode=r``.
        timeout: seconds in which it must answer; None for as long as it takes.
        retry_after: seconds for which it is left alone after a failure.
    """

    store: Store | str | os.PathLike[str]
    name: str | None = None
    read_only: bool = False
    timeout: float | None = None
    retry_after: float = RETRY_AFTER


class Tiered:
    """Reads from the first level that has the value, and writes to all.

    A value found in one level is put into those above it that can be written to: they have it next time. A put goes to
    every such level, and fails only where none took it; a level that refuses the new value (it is above its cap, say)
    loses the old one. A delete that one level fails raises, after all were asked: the entry may still be there. What a
    read-only level has stays.

    A level that fails, or does not answer in time, is left alone for a while, with one warning; then it is asked again.
    One that was away when a value was put or deleted may have the old one when it is back, and a level that only this
    process sees knows nothing of what other processes write.

    Args:
        levels: in the order in which they are read.
        hook: gets each level's events, with its name as ``level``.

    Raises:
        InputError: no level, two with one name, or a timeout that is none; from `put` and `delete` also: every level is
            read-only, or refuses the value.
        TypeError: what is no `Level`, or has no store.
        StoreError: from every method: every level failed (StoreTimeoutError where none answered in time). A miss is
            said where at least one level answered.

    Attributes:
        on_evict: gets key and size of what made room in any level.
    """

    def __init__(self, levels: Iterable[Level], *, hook: EventHook | None = None) -> None:
        self.on_evict: OnEvict | None = None
        self._hook = hook
        self._stripes = Stripes()
        self._levels: dict[str, Counted] = {}
        self._writable: dict[str, Counted] = {}
        for number, level in enumerate(levels, 1):
            if not isinstance(level, Level):
                raise TypeError(f"a tiered store is made of Level(store, …), not of {type(level).__name__}")
            name = level.name if level.name is not None else str(number)
            store = LateStore(level.store) if isinstance(level.store, str | os.PathLike) else level.store
            check_store(store, f"level {name!r}")
            if name in self._levels:
                raise InputError(f"two levels have the name {name!r}")
            self._levels[name] = Counted(_patient(store, level, f"level {name!r}"), self._told, level=name)
            if not level.read_only and not is_read_only(store):
                self._writable[name] = self._levels[name]
        if not self._levels:
            raise InputError("a tiered store needs a level")

    @property
    def read_only(self) -> bool:
        """Is there no level that can be written to?"""
        return not self._writable

    @property
    def stats(self) -> dict[str, StoreStats]:
        """The counts of each level by its name. What is put into it from below is stored; failures are also those calls
        for which it was left alone."""
        return {name: level.stats for name, level in self._levels.items()}

    def get(self, key: str) -> bytes | None:
        stripe = self._stripes.of(check_key(key))
        writes = stripe.writes
        missed: list[str] = []
        failures: dict[str, Exception] = {}
        for name, level in self._levels.items():
            try:
                value = level.get(key)
            except Exception as error:
                failures[name] = error
                continue
            if value is not None:
                with stripe.unless_written(writes) as same:
                    if same:  # otherwise the value may be an old one by now
                        self._fill(missed, key, value)
                return value
            missed.append(name)
        if not missed:
            _fail(failures)
        return None

    def put(self, key: str, value: Buffer) -> None:
        check_key(key)
        data = flat(value)
        with self._stripes.of(key).writing():
            failures = self._write(lambda level: level.put(key, data))
            for name, error in failures.items():
                if isinstance(error, InputError):
                    _attempt(partial(self._writable[name].delete, key))
        if len(failures) == len(self._writable):
            _fail(failures)

    def delete(self, key: str) -> bool:
        check_key(key)
        deleted: list[bool] = []
        with self._stripes.of(key).writing():
            failures = self._write(lambda level: deleted.append(level.delete(key)))
        if failures:
            _fail(failures)
        return any(deleted)

    def keys(self) -> Iterator[str]:
        return self._union(lambda level: level.keys(), lambda key: key)

    def entries(self) -> Iterator[Entry]:
        """Each as the first level that has it lists it."""
        return self._union(lambda level: level.entries(), lambda entry: entry.key)

    def close(self) -> None:
        """Close every level; raises what the first that cannot be closed raises."""
        failures = [error for level in self._levels.values() if (error := _attempt(level.close))]
        if failures:
            raise failures[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Tiered({', '.join(self._levels)})"

    def _fill(self, names: list[str], key: str, value: bytes) -> None:
        """Put what was found into levels that missed it. Each counts and warns of its own failure."""
        for name in names:
            if name in self._writable:
                _attempt(partial(self._writable[name].put, key, value))

    def _write(self, function: Callable[[Counted], object]) -> dict[str, Exception]:
        """Call it with every level that can be written to; gives those that failed."""
        if not self._writable:
            raise InputError("nothing is stored or deleted: every level is read-only")
        outcomes = {name: _attempt(partial(function, level)) for name, level in self._writable.items()}
        return {name: error for name, error in outcomes.items() if error}

    def _union(self, listing: Callable[[Counted], Iterator[_Item]], key_of: Callable[[_Item], str]) -> Iterator[_Item]:
        seen: set[str] = set()
        failures: dict[str, Exception] = {}
        for name, level in self._levels.items():
            try:
                for item in listing(level):
                    if key_of(item) not in seen:
                        seen.add(key_of(item))
                        yield item
            except Exception as error:
                failures[name] = error
        if len(failures) == len(self._levels):
            _fail(failures)

    def _told(self, event: Event) -> None:
        if event.kind is EventKind.EVICTED and self.on_evict is not None:
            self.on_evict(event.key, event.size or 0)
        if self._hook is not None:
            self._hook(event)


def _patient(store: Store, level: Level, name: str) -> Store:
    """The level's store, left alone for a while after a failure. A store that is so by itself warns by itself."""
    inside = _is_guarded(store)
    if level.timeout is not None:
        breaker = Breaker(level.retry_after, name=name) if inside else None
        store = Timed(store, level.timeout, breaker=breaker, name=name)
    return store if inside else Guarded(store, retry_after=level.retry_after, name=name)


def _is_guarded(store: object) -> bool:
    return any(isinstance(layer, Guarded) for layer in layers(store))


def _attempt(function: Callable[[], object]) -> Exception | None:
    try:
        function()
    except Exception as error:
        return error
    return None


def _fail(failures: dict[str, Exception]) -> NoReturn:
    errors = list(failures.values())
    kinds: tuple[tuple[type[Exception], type[Exception]], ...] = (
        (InputError, InputError),
        (TimeoutError, StoreTimeoutError),
    )
    raised = next((ours for kind, ours in kinds if all(isinstance(error, kind) for error in errors)), StoreError)
    said = "; ".join(f"level {name!r}: {error or type(error).__name__}" for name, error in failures.items())
    raise raised(said) from errors[0]
