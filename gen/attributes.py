"""The names in an attribute list."""

from __future__ import annotations

from collections.abc import Iterator

from .lexer import Token

__all__ = ["attribute_names"]


def attribute_names(inner: list[Token]) -> Iterator[tuple[str, str]]:
    """Vendor (or nothing) and name of each attribute between the brackets, without its arguments.

    ``__name__`` and ``name`` are one; ``[[gnu::name]]`` and ``[[using gnu: name]]`` tell the vendor.
    """
    texts = [token.text for token in inner]
    everywhere = ""
    if texts[:1] == ["using"] and texts[2:3] == [":"]:
        everywhere, texts = texts[1], texts[3:]
    vendor = everywhere
    depth = 0
    for at, text in enumerate(texts):
        if text in "()":
            depth += 1 if text == "(" else -1
        elif depth or text == ":":
            continue
        elif text == ",":
            vendor = everywhere
        elif texts[at + 1 : at + 3] == [":", ":"]:
            vendor = text.strip("_")
        else:
            dunder = text.startswith("__") and text.endswith("__") and len(text) > 4
            yield vendor, text[2:-2] if dunder else text
