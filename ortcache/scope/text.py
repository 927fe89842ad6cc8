"""Parts as text that can be shown, and that no two different values share."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping

from ..errors import InputError

__all__ = ["DIGEST_LENGTH", "part_text", "parts_digest"]

#: Hexadecimal digits of a scope's digest.
DIGEST_LENGTH = 48

_DEEPEST = 32

#: Text that would read as JSON's: of a number, a word, or something in quotes or brackets.
_READS_AS_JSON = re.compile(r'["\[{].*|-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?|true|false|null', re.DOTALL)


def part_text(name: str, value: object) -> str:
    """A value as text: JSON, its mappings sorted, and plain text as it is where it does not read as JSON.

    So 1, "1", True and [1] are apart, and so are None ("null"), "None" and "null" (in quotes).

    Raises:
        InputError: it is no text, number, truth value, None, list, tuple or mapping of such.
    """
    plain = _plain(name, value, _DEEPEST)
    if isinstance(plain, str) and plain.isprintable() and plain and not _READS_AS_JSON.fullmatch(plain):
        return plain
    try:
        return json.dumps(plain, sort_keys=True, allow_nan=False, separators=(",", ":"))
    except ValueError as error:  # not a number, or too many digits
        raise InputError(f"{name} cannot be part of a scope: {error}") from None


def parts_digest(parts: Mapping[str, str]) -> str:
    """The digest of named texts, in the order of their names. Each is hashed with its length."""
    digest = hashlib.blake2b(digest_size=DIGEST_LENGTH // 2, person=b"ortcache scope")
    for name, text in sorted(parts.items()):
        for item in (name, text):
            data = item.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "little"))
            digest.update(data)
    return digest.hexdigest()


def _plain(name: str, value: object, depth: int) -> object:
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str.__str__(value)  # an enum's own __str__ may say its name
    if depth == 0:
        raise InputError(f"{name} cannot be part of a scope: it is nested more than {_DEEPEST} deep")
    if isinstance(value, list | tuple):
        return [_plain(name, item, depth - 1) for item in value]
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{name} cannot be part of a scope: its key {key!r} is {type(key).__name__}, not text")
        return {str.__str__(key): _plain(name, item, depth - 1) for key, item in value.items()}
    raise InputError(
        f"{name} cannot be part of a scope: it is or holds {type(value).__name__}; "
        "text, numbers, True, False, None, lists and mappings of those can be"
    )
