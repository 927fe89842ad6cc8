"""What is declared of the C API, as the ``abi`` commands show it."""

from __future__ import annotations

import difflib
from typing import Any

from .. import raw
from ..core.native import TABLES
from ..raw import _declarations as declared
from ..raw import constants, enums
from ..raw._support import Slot

__all__ = ["FUNCTION_TABLES", "close_names", "enum_values", "member", "names", "since_text", "text"]

#: The structs that ORT fills in with its functions.
FUNCTION_TABLES = ("OrtApiBase", "OrtApi", *TABLES)


def names() -> dict[str, list[str]]:
    """Each kind of declaration, and the C names of that kind."""
    values = {name: getattr(constants, name) for name in constants.__all__}
    return {
        "tables": list(FUNCTION_TABLES),
        "structs": [name for name in declared.STRUCTS if name not in FUNCTION_TABLES],
        "enums": list(declared.ENUMS),
        "callbacks": list(declared.CALLBACKS),
        "handles": sorted(declared.HANDLES),
        "constants": [name for name, value in values.items() if not isinstance(value, str)],
        "keys": [name for name, value in values.items() if isinstance(value, str)],
    }


def member(struct: str, index: int, slot: Slot) -> dict[str, Any]:
    """A struct's member as a document."""
    return {
        "struct": struct,
        "index": index,
        "name": slot.name,
        "since": slot.since,
        "signature": slot.signature,
        "callable": slot.params is not None and not slot.placeholder and isinstance(slot.since, int),
    }


def enum_values(name: str) -> dict[str, int]:
    """The enumerators of an enum, in order."""
    return {label: int(value) for label, value in getattr(enums, name).__members__.items()}


def since_text(since: int | str | None) -> str:
    """A since-version for people: "1.24", "proposed", "?"."""
    return f"1.{since}" if isinstance(since, int) else since or "?"


def text(member: dict[str, Any]) -> str:
    """A member's C signature; for a placeholder, what it is."""
    kept = str(member["name"]).startswith("placeholder_")
    return f"({member['name']}: its name or parameters are not known)" if kept else str(member["signature"])


def close_names(name: str) -> list[str]:
    """Declared names that someone who wrote ``name`` may have meant, the likeliest first."""
    known = {n for group in names().values() for n in group}
    known |= {slot.name for struct in declared.STRUCTS for slot in raw.slots(struct)}
    known |= {label for enum in declared.ENUMS for label in enum_values(enum)}
    known |= {value for value in vars(constants).values() if isinstance(value, str) and "." in value}
    folded = {n.lower(): n for n in sorted(known)}
    close = [folded[n] for n in difflib.get_close_matches(name.lower(), folded, 4, 0.6)]
    holding = sorted((n for low, n in folded.items() if len(name) > 2 and name.lower() in low), key=len)
    return list(dict.fromkeys(close + holding))[:8]
