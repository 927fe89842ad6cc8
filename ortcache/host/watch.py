"""A look at what makes and releases the users of cache functions, so that a tuple lives as long as they do.

The functions of the library's table are replaced by ones that call them and take note. Nothing else changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..core.native import Native
from ..core.status import address
from .entries import Entry
from .proposal import Proposal

__all__ = ["watch"]

#: What makes something from session options: the table, the function, and where the options and the result stand.
_MAKERS = {
    "CloneSessionOptions": ("OrtApi", 0, 1),
    "CreateModelCompilationOptionsFromSessionOptions": ("OrtCompileApi", 1, 2),
}
_SESSION_MAKERS = {
    "CreateSession": ("OrtApi", 2, 3),
    "CreateSessionFromArray": ("OrtApi", 3, 4),
    "CreateSessionWithPrepackedWeightsContainer": ("OrtApi", 2, 4),
    "CreateSessionFromArrayWithPrepackedWeightsContainer": ("OrtApi", 3, 5),
    "CreateSessionFromModel": ("OrtModelEditorApi", 2, 3),
    "CreateModelEditorSession": ("OrtModelEditorApi", 2, 3),
    "CreateModelEditorSessionFromArray": ("OrtModelEditorApi", 3, 4),
}
_RELEASERS = {
    "ReleaseSessionOptions": "OrtApi",
    "ReleaseSession": "OrtApi",
    "ReleaseModelCompilationOptions": "OrtCompileApi",
}


def watch(native: Native, proposal: Proposal) -> None:
    """Put the functions in place."""

    for name, (struct, options, result) in _MAKERS.items():
        _replace(native, struct, name, lambda f: _maker(proposal, f, options, result))  # noqa: B023 - called at once
    for name, (struct, options, result) in _SESSION_MAKERS.items():
        _replace(native, struct, name, lambda f: _session_maker(proposal, f, options, result))  # noqa: B023
    for name, struct in _RELEASERS.items():
        _replace(native, struct, name, lambda f: _releaser(proposal, f))


def _replace(native: Native, struct: str, name: str, make: Callable[[Any], Any]) -> None:
    table = native.table(struct).raw
    if table.holds(name):
        table.replace(name, make(getattr(table, name)))


def _maker(proposal: Proposal, function: Any, options: int, result: int) -> Any:
    def make(*args: Any) -> Any:
        status = function(*args)
        if not status:
            proposal.entries.inherit(_made(args[result]), _entry(proposal, args[options]))
        return status

    return make


def _session_maker(proposal: Proposal, function: Any, options: int, result: int) -> Any:
    def make(*args: Any) -> Any:
        with proposal.sessions.creating() as creation:
            entry = _entry(proposal, args[options])
            if entry is not None:
                entry.shared = True  # before ORT reads it: the options may be changed on another thread
            status = function(*args)
        if not status:
            session = _made(args[result])
            proposal.entries.inherit(session, entry)
            proposal.sessions.made(session, creation)
        return status

    return make


def _releaser(proposal: Proposal, function: Any) -> Any:
    def release(pointer: Any) -> None:
        owner = _address(pointer)
        # First: once it is released, another thread may get the same address for something new.
        kept = proposal.entries.held(owner)
        proposal.entries.release(owner)
        proposal.sessions.released(owner)
        function(pointer)
        del kept  # its functions may have been called until now

    return release


def _entry(proposal: Proposal, options: Any) -> Entry | None:
    if _address(options) is None:
        return None
    try:
        return proposal.find(options)
    except LookupError:
        return None


def _address(pointer: Any) -> int | None:
    pointer = getattr(pointer, "_as_parameter_", pointer)
    if pointer is None or isinstance(pointer, int):
        return pointer or None
    return address(pointer)


def _made(out: Any) -> int:
    """What a function wrote into its result argument: a byref, or a pointer to the cell."""
    cell = out._obj if hasattr(out, "_obj") else out.contents
    return address(cell) or 0
