"""Execution providers that know only a directory, over any store.

with directory(store, "openvino", scope=scope) as d:
    options = options_for("OpenVINOExecutionProvider", d)
    session = d.session(lambda d: make_session(options))
"""

from __future__ import annotations

from .bridged import BridgedDirectory
from .opening import directory
from .options import options_for
from .stats import BridgeStats

__all__ = ["BridgeStats", "BridgedDirectory", "directory", "options_for"]
