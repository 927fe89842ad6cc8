"""``ortcache abi``: what the bindings know of ONNX Runtime's C API. Nothing is loaded for it."""

from __future__ import annotations

from typing import Any

from . import abi_diff, abi_ls, abi_show

__all__ = ["add_parser"]


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("abi", help="the C API's declarations: list, show, compare versions")
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    for action in (abi_ls, abi_show, abi_diff):
        action.add_parser(actions)
