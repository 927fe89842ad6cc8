"""Third stage: C tokens to a `Header`, through pycparser. What it does not understand, it refuses by name."""

from __future__ import annotations

from .errors import GenError
from .macros import read_macros
from .model import Header
from .normalise import normalise
from .preprocess import Preprocessed
from .standard import TYPES, UNKNOWN_TYPES
from .syntax import syntax_tree
from .walk import Walker

__all__ = ["parse"]


def parse(source: Preprocessed, base: Header | None = None) -> Header:
    """Read the declarations of one header set.

    Args:
        source: what `preprocess` gave.
        base: a header set that is already known: an overlay may use its types.

    Raises:
        UnsupportedConstruct: a declaration has no faithful form in ctypes, or is no C.
        GenError: the text ends too early, or is nested too deeply.
    """
    base = base or Header()
    normalised = normalise(source.tokens)
    walker = Walker(normalised.stdcall, base)
    try:
        for node in syntax_tree(normalised.tokens, _types(base)):
            walker.declaration(node)
    except RecursionError as error:
        raise GenError("a declaration or an expression is nested too deeply to be read") from error
    header = walker.finish()
    header.sources = dict(source.hashes)
    read_macros(source.macros, header, walker.enumerators)
    return header


def _types(base: Header) -> list[str]:
    """Names that are types without a declaration in the header. What they are, the parser does not ask."""
    known = {*base.records, *base.handles, *base.enums, *base.callbacks, *base.typedefs}
    return [*TYPES, *sorted(UNKNOWN_TYPES), *sorted(known)]
