"""The README's text, and the blocks of code in it."""

from __future__ import annotations

import re

from .oracles import ROOT

__all__ = ["README", "blocks", "program", "programs"]

README = (ROOT / "README.md").read_text("utf-8")

_NAMED = re.compile(r"# (\w+\.py)\n")


def blocks(language: str) -> list[str]:
    """The blocks of a language, without the whole programs."""
    found = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [block for block in found if not _NAMED.match(block)]


def programs() -> dict[str, str]:
    """The blocks that are whole programs, by the file name in their first line."""
    found = re.findall(r"^```python\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return {named[1]: block for block in found if (named := _NAMED.match(block))}


def program(name: str) -> str:
    """One of them."""
    return programs()[name]
