"""Sizes as people write them."""

from __future__ import annotations

from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.stores.size import parse_size

K, M, G, T = 1 << 10, 1 << 20, 1 << 30, 1 << 40


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1", 1), ("512", 512), ("512B", 512), ("512 b", 512), ("512k", 512 * K), ("1K", K), ("1kb", K), ("1KiB", K),
        ("100MiB", 100 * M), ("100MB", 100 * M), ("100 m", 100 * M), ("3.5G", 7 * G // 2), ("3.5GB", 7 * G // 2),
        ("0.5k", 512), (".5K", 512), ("1.K", K), ("2T", 2 * T), ("2TiB", 2 * T), (" 7 ", 7), ("007", 7),
        ("1.9", 1), ("0.1G", 107374182), (1, 1), (123456789012, 123456789012), ((1 << 63) - 1, (1 << 63) - 1),
        ("8388607T", 8388607 * T),
    ],
)  # fmt: skip
def test_a_size(text: str | int, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "k", "GB", "3.5.5G", "3,5G", "1e9", "nan", "NaN", "inf", "-inf", "0x10", "1_000", "1 000", "5P", "5iB",
        "5KK", "5KBB", "ten", "+5", "-5", "-1G", "5G\n5", "٣", "5  G", ".", "1" * 5000, None, 3.5, float("nan"), True,
        b"5G", ["5G"],
    ],
    ids=lambda text: ascii(text)[:20],
)  # fmt: skip
def test_what_is_no_size_is_refused_and_the_message_says_what_is_one(text: Any) -> None:
    with pytest.raises(
        InputError, match=r"is no size: write a number of bytes .* K, M, G or T .*powers of 1024.* 3\.5G"
    ):
        parse_size(text)


@pytest.mark.parametrize("size", [0, -1, -(1 << 70), "0", "0G", "0.0001K", "0.9"])
def test_a_size_that_is_not_above_0_is_refused(size: str | int) -> None:
    with pytest.raises(InputError, match=r"is not above 0: write a number"):
        parse_size(size)


@pytest.mark.parametrize("size", [1 << 63, "8388608T", "99999999999999999999"])
def test_a_size_that_no_backend_can_count_is_refused(size: str | int) -> None:
    with pytest.raises(InputError, match="is above 8 EiB"):
        parse_size(size)
