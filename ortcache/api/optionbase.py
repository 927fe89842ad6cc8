"""What session and run options have in common: settings, config entries, and what C points into."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..core.handle import Handle
from ..core.native import Native
from .config import ConfigEntries, entry_text
from .env import Environment
from .settings import apply_settings, hint, settable

__all__ = ["Kept", "Options"]


class Kept:
    """What C points into: until it was used once, and as long as what was made from the options lives."""

    def __init__(self, once: Iterable[Any] = (), always: Iterable[Any] = ()) -> None:
        self.once = list(once)
        self.always = list(always)


class Options(Handle):
    """The base of session and run options.

    An environment must be there: ORT logs when an entry is replaced, and without one that ends the process.
    """

    native: Native
    _add_entry: str  # the C function
    _what: str  # these options, in messages

    def _own(self, env: Environment, pointer: Any, release: Any, other: Any = None) -> None:
        """Take a pointer; with ``other``, it is a copy of that one's."""
        self.native = env.native
        self._env = env
        self._values: dict[str, Any] = dict(other._values) if other else {}
        self._entries: dict[str, str] = dict(other._entries) if other else {}  # those that were added here
        kept = Kept(other._kept.once, other._kept.always) if other else Kept()
        Handle.__init__(self, pointer, release, parents=[env], keep=[kept])

    def _set_all(self, config: Mapping[str, object] | None, settings: dict[str, Any]) -> None:
        """Apply what the constructor got; close these options where that fails."""
        try:
            apply_settings(self, settings)
            for key, value in (config or {}).items():
                self.add_config_entry(key, value)
        except BaseException:
            self.close()
            raise

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and name != "native" and not hasattr(type(self), name):
            raise AttributeError(f"{self._what} have no setting {name!r}{hint(name, settable(type(self)))}")
        super().__setattr__(name, value)

    def _call(self, function: str, *args: Any) -> Any:
        """Call a function of OrtApi that takes these options first."""
        pointer = Handle._enter(self)
        try:
            return getattr(self.native.api, function)(pointer, *args)
        finally:
            Handle._leave(self)

    @property
    def _kept(self) -> Kept:
        self._pointer  # noqa: B018  raises where they are closed
        kept: Kept = self._record.kept[0]
        return kept

    def add_config_entry(self, key: str, value: object) -> None:
        """Add a config entry, or replace it.

        Args:
            key: one of the raw.kOrt…Options… keys, or any other.
            value: text; a number or a bool is written as text.

        Raises:
            InputError: the key is empty.
            OrtError: the key has more than 1024 characters, or the value more than the library takes.
        """
        name, text = entry_text(key, value)
        self._call(self._add_entry, name, text.encode())
        self._entries[name.decode("utf-8", "replace")] = text

    @property
    def config(self) -> ConfigEntries:
        """The config entries as C has them. Assign to an item to add one."""
        return ConfigEntries(self)

    def _config_value(self, key: str) -> str | None:
        raise NotImplementedError

    def _config_names(self) -> list[str]:
        self._pointer  # noqa: B018  raises where they are closed
        return list(self._entries)

    def __repr__(self) -> str:
        shown = "closed" if self._closed else ", ".join(f"{name}={value!r}" for name, value in self._values.items())
        return f"<ortcache.{type(self).__name__} {shown}>"
