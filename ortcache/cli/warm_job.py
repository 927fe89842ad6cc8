"""One model to warm, as it is handed to the process that does it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field

from ..errors import InputError

__all__ = ["Emit", "Job", "UsageError"]

#: Tells the command that something happened: its name, and facts.
Emit = Callable[..., None]


class UsageError(InputError):
    """An option of the command that does not fit the model or the provider."""


@dataclass(frozen=True)
class Job:
    """What ``warm`` was asked for.

    Attributes:
        model: its path.
        ep: the execution provider: a name, or ``module:Class``.
        store: what names the store.
        library: ONNX Runtime's library; None to search.
        ep_library: a plugin's file.
        options: the provider's own options.
        device: which of a plugin's devices.
        extra: further parts of the scope.
        way: "callbacks" or "directory"; None: whichever the provider knows.
        cache_option: the option that takes the directory, of a provider that is not known.
        read_only: store nothing.
        shapes: input name to its shape in the runs.
        runs: how many runs follow the making of the session.
    """

    model: str
    ep: str
    store: str
    library: str | None = None
    ep_library: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    device: int | None = None
    extra: dict[str, str] = field(default_factory=dict)
    way: str | None = None
    cache_option: str | None = None
    read_only: bool = False
    shapes: dict[str, list[int]] = field(default_factory=dict)
    runs: int = 0

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Job:
        return cls(**json.loads(text))
