"""Which keys an execution provider may use: the rule is the stores' own."""

from __future__ import annotations

import pytest

from ortcache.keys import key_problem

SAFE = ["a", "A-b_c.d", "0", "-", "_", "x" * 200, "console", "com", "com10", "nul-1", "a..b", "lpt"]
UNSAFE = [
    "", ".", "..", ".hidden", "a.", "x" * 201, "a/b", "a\\b", "C:", "a b", "ä", "а", "a\n", "a\0", "../x", "/x", "con",
    "CON", "Con.txt", "nul.tar.gz", "PRN", "aux", "COM1", "lpt9.x", "com0", "٣", None, 3, b"bytes", ["a"],
]  # fmt: skip


@pytest.mark.parametrize("key", SAFE)
def test_a_safe_key(key: str) -> None:
    assert key_problem(key) is None


@pytest.mark.parametrize("key", UNSAFE)
def test_an_unsafe_key(key: object) -> None:
    assert key_problem(key)
