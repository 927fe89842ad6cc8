"""The free-form entries (key and value, both text) of session and run options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..core.marshal import string
from ..errors import InputError

__all__ = ["ConfigEntries", "entry_text"]


class ConfigEntries(Mapping[str, str]):
    """The entries of some options, as C has them now. Assigning adds one or replaces it; C cannot remove one."""

    def __init__(self, options: Any) -> None:
        self._options = options

    def __getitem__(self, key: str) -> str:
        value = self._options._config_value(key)
        if value is None:
            raise KeyError(key)
        return str(value)

    def __setitem__(self, key: str, value: object) -> None:
        self._options.add_config_entry(key, value)

    def __delitem__(self, key: str) -> None:
        raise TypeError(f"the entry {key!r} cannot be removed: ONNX Runtime has no function for that; make new options")

    def __iter__(self) -> Iterator[str]:
        return iter(self._options._config_names())

    def __len__(self) -> int:
        return len(self._options._config_names())

    def __repr__(self) -> str:
        return repr(dict(self))


def entry_text(key: object, value: object) -> tuple[bytes, str]:
    """A checked key, and the value as the text that C takes: "1" and "0" for a bool.

    Raises:
        TypeError: the value is neither text nor a number.
        InputError: the key is empty, or there is a NUL in one.
    """
    name = string(key, "config key")  # type: ignore[arg-type]
    if not name:
        raise InputError("the config key is empty; raw.kOrtSessionOptions… and raw.kOrtRunOptions… name the known ones")
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, (int, float)):
        value = str(value)
    what = f"the value of config entry {name.decode('utf-8', 'replace')!r}"
    return name, string(value, what).decode()  # type: ignore[arg-type]
