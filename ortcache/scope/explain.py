"""Why a scope has no entry: the scope that is nearest to it, and what differs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..stores.protocol import Store
from .records import ScopeRecord, scopes

__all__ = ["Difference", "Explanation", "explain"]

#: What makes two scopes alike: they are of the same model or of the same provider.
_KIN = ("model", "ep")


@dataclass(frozen=True)
class Difference:
    """A part that differs.

    Attributes:
        part: its name.
        stored: its text in the scope that has entries; None where it is not named there.
        now: its text in the scope that was asked; None where it is not named.
    """

    part: str
    stored: str | None
    now: str | None

    def __str__(self) -> str:
        def shown(text: str | None) -> str:
            return "not named" if text is None else text

        return f"{self.part}: stored {shown(self.stored)}, now {shown(self.now)}"


@dataclass(frozen=True)
class Explanation:
    """What a store has for a scope, as ``str()`` says it in words.

    Attributes:
        entries: how many entries it has of the scope itself.
        nearest: the scope most like it, where it has none; None where nothing like it was stored.
        differences: what differs from the nearest.
        unknown: scopes with entries, but without a record of their parts.
    """

    entries: int = 0
    nearest: ScopeRecord | None = None
    differences: tuple[Difference, ...] = ()
    unknown: int = 0

    def __str__(self) -> str:
        if self.entries:
            return f"{self.entries} entries of this scope are stored: what is missed is the key"
        if self.nearest:
            return "; ".join(map(str, self.differences))
        lost = f" ({self.unknown} scopes have entries and no record of their parts)" if self.unknown else ""
        return f"nothing like it was stored{lost}"


def explain(store: Store, digest: str, parts: Mapping[str, str]) -> Explanation:
    """Look for a scope and for what is most like it. Reads the record of every scope in the store."""
    found = scopes(store)
    own = next((record.entries for record in found if record.digest == digest), 0)
    unknown = sum(record.parts is None for record in found)
    if own:
        return Explanation(entries=own, unknown=unknown)
    others = [
        (_differences(record.parts, parts), record)
        for record in found
        if record.parts is not None and record.entries and _kin(record.parts, parts)
    ]
    if not others:
        return Explanation(unknown=unknown)
    differences, nearest = min(others, key=lambda other: _distance(*other))
    return Explanation(nearest=nearest, differences=differences, unknown=unknown)


def _differences(stored: Mapping[str, str], now: Mapping[str, str]) -> tuple[Difference, ...]:
    names = [*now, *(name for name in stored if name not in now)]
    return tuple(
        Difference(name, stored.get(name), now.get(name)) for name in names if stored.get(name) != now.get(name)
    )


def _kin(stored: Mapping[str, str], now: Mapping[str, str]) -> bool:
    named = [name for name in _KIN if name in now] or list(now)
    return any(stored.get(name) == now[name] for name in named)


def _distance(differences: tuple[Difference, ...], record: ScopeRecord) -> tuple[bool, int, float, str]:
    """The same model first, then few differences, then the latest use."""
    other_model = any(difference.part == "model" for difference in differences)
    return other_model, len(differences), -(record.used or 0.0), record.digest
