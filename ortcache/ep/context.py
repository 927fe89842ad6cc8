"""What an execution provider is told when ORT makes it, and before each run."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass

from ..api.device import HardwareDevice
from ..core.marshal import string
from ..core.native import Native
from .cache import EpCache
from .log import EpLogger
from .view import View, decode, fact

__all__ = ["EpContext", "RunInfo"]


@dataclass(frozen=True)
class EpContext:
    """What ORT says when it makes an execution provider for a session.

    Attributes:
        native: the library: every C function is ``native.api.<Name>``.
        devices: the devices that it is to use.
        metadata: what its class said of each of them.
        options: the options that the user gave for it.
        config: all config entries of the session options.
        log: the session's log.
        cache: the EP cache that the application set, if it did.
    """

    native: Native
    devices: tuple[HardwareDevice, ...]
    metadata: tuple[Mapping[str, str], ...]
    options: Mapping[str, str]
    config: Mapping[str, str]
    log: EpLogger
    cache: EpCache


class RunInfo(View):
    """The run options of one run, valid while `Ep.on_run_start` or `Ep.on_run_end` runs."""

    struct = "OrtRunOptions"

    @fact
    def tag(self) -> str:
        """The run's tag, which its log lines carry."""
        return self._text("RunOptionsGetRunTag")

    @fact
    def log_severity_level(self) -> int:
        """The least severe level that is logged; -1: the session's."""
        return int(self._get("RunOptionsGetRunLogSeverityLevel", ctypes.c_int()).value)

    @fact
    def log_verbosity_level(self) -> int:
        """How much a debug build logs at level "verbose"."""
        return int(self._get("RunOptionsGetRunLogVerbosityLevel", ctypes.c_int()).value)

    def config(self, key: str) -> str | None:
        """A config entry of the run options; None where it is not set."""
        value = self._native.api.GetRunConfigEntry(self._pointer, string(key, "config key"))
        return None if value is None else decode(value)
