"""A Python function that selects the execution-provider devices of a session."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..core.callbacks import target
from ..errors import InputError
from .device import EpDevice, devices_at
from .env import Environment
from .keyvalues import read_key_values

__all__ = ["SelectionFunction", "Selector", "select"]

#: Gets the devices there are, the model's and the runtime's metadata, and how many it may select; gives a selection.
SelectionFunction = Callable[[Sequence[EpDevice], Mapping[str, str], Mapping[str, str], int], Sequence[EpDevice]]


class Selector:
    """The function, and the environment whose devices it selects from."""

    def __init__(self, env: Environment, function: SelectionFunction) -> None:
        if not callable(function):
            raise TypeError(f"what selects devices must be a function, not {type(function).__name__}")
        self.env = env
        self.function = function


def select(
    devices: Any, count: int, model: Any, runtime: Any, selected: Any, most: int, out_count: Any, state: int | None
) -> None:
    """What C calls; ``state`` is the token of a `Selector`."""
    selector = target(state)
    given = devices_at(selector.env, [devices[i] for i in range(count)])
    native = selector.env.native
    chosen = list(selector.function(given, read_key_values(native, model), read_key_values(native, runtime), most))
    wrong = [device for device in chosen if device not in given]
    if wrong:
        raise InputError(f"what was selected is not among the {count} devices: {wrong[0]!r}")
    if len(chosen) > most:
        raise InputError(f"{len(chosen)} devices were selected; there is room for {most}")
    for i, device in enumerate(chosen):
        selected[i] = device._pointer
    out_count[0] = len(chosen)
