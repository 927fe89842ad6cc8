"""The generator's errors: each names the place and says what to do."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Coord", "GenError", "OverlayError", "UnsupportedConstruct"]


class Coord(NamedTuple):
    """A place in a header."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class GenError(Exception):
    """The generator cannot go on. The message is for the person at the keyboard."""


class UnsupportedConstruct(GenError):
    """A C construct that would have to be guessed at."""

    def __init__(self, coord: Coord, construct: str, why: str = "it is not understood") -> None:
        super().__init__(f"{coord}: {construct}: {why}")
        self.coord = coord
        self.construct = construct
        self.why = why


class OverlayError(GenError):
    """An overlay contradicts the headers it is laid over."""
