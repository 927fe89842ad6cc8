"""The text of parts: no two different values share one."""

from __future__ import annotations

import enum
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ortcache.errors import InputError
from ortcache.scope.text import DIGEST_LENGTH, part_text, parts_digest

#: Few letters, and those that mean something to JSON: what could collide comes often.
TEXT = st.text('"[]{},:10.-+eE \\/truefalsnNo\n\x00\ud800é', max_size=6)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-12, 12) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
PARTS = st.dictionaries(TEXT, TEXT, max_size=4)


def typed(value: Any) -> Any:
    """A form in which Python's == tells values apart as a scope must: 1, True and 1.0 are not the same."""
    if isinstance(value, list | tuple):
        return ["list", *map(typed, value)]
    if isinstance(value, dict):
        return {key: typed(item) for key, item in value.items()}
    return type(value).__name__, repr(value)


@given(PLAIN, PLAIN)
@example(None, "None")
@example(None, "null")
@example(1, "1")
@example(1, True)
@example(1, 1.0)
@example("1.31", 1.31)
@example("1e5", 1e5)
@example("a", '"a"')
@example(["a"], '["a"]')
@example(["a", "b"], ["a,b"])
@example([], {})
@example("", [""])
def test_different_values_have_different_texts(one: Any, other: Any) -> None:
    assert (part_text("part", one) == part_text("part", other)) is (typed(one) == typed(other))


@given(PLAIN)
@example('"1"')
@example("NaN")
def test_no_text_is_the_text_of_what_it_shows(value: Any) -> None:
    text = part_text("part", value)
    for shown in (text, json.dumps(value), str(value)):
        if typed(shown) != typed(value):
            assert part_text("part", shown) != text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("1.31.0", "1.31.0"), ("NVIDIA A10, 24 GB", "NVIDIA A10, 24 GB"),
        ("日本", "日本"), ("1.31", '"1.31"'), (1.31, "1.31"), (3, "3"), ("3", '"3"'), (None, "null"), ("None", "None"),
        ("", '""'), ("two\nlines", '"two\\nlines"'), ((1, 2), "[1,2]"), ({"b": 1, "a": [None]}, '{"a":[null],"b":1}'),
    ],
)  # fmt: skip
def test_what_a_reader_sees(value: object, text: str) -> None:
    assert part_text("part", value) == text


class Precision(str, enum.Enum):  # noqa: UP042 - the older kind, whose str() is its name
    HALF = "fp16"


class Level(enum.IntEnum):
    HIGH = 3


def test_members_of_enums_are_their_values() -> None:
    assert part_text("part", Precision.HALF) == "fp16"
    assert part_text("part", {Precision.HALF: Level.HIGH}) == '{"fp16":3}'


CIRCLE: list[object] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (b"bytes", "bytes"), (Path("x"), "Path"), ({"a"}, "set"), (object(), "object"), (np.int64(1), "int64"),
        ([b"x"], "bytes"), ({1: "x"}, "its key 1 is int"), (math.nan, "JSON"), (math.inf, "JSON"), (CIRCLE, "nested"),
        pytest.param(10**5000, "digits", id="long"),
    ],
)  # fmt: skip
def test_what_has_no_one_text_is_refused_by_name(value: object, said: str) -> None:
    with pytest.raises(InputError, match=f"options.level cannot be part of a scope: .*{said}"):
        part_text("options.level", value)


@given(PARTS, PARTS)
@example({"a": "bc"}, {"ab": "c"})
@example({"a": "", "b": ""}, {"a": "b"})
@example({"a": "x", "b": "y"}, {"a": "y", "b": "x"})
@example({}, {"": ""})
def test_different_parts_have_different_digests(one: dict[str, str], other: dict[str, str]) -> None:
    assert (parts_digest(one) == parts_digest(other)) is (one == other)


def test_a_digest_stays_what_it_is() -> None:
    # What an earlier release stored must be found.
    assert (
        parts_digest({"ep": "CPUExecutionProvider", "ort_version": "1.32.0"})
        == "04bf30c8ae06970704ce8873c1314377a6ccebef99a4e9d6"
    )
    assert parts_digest({"b": "2", "a": "1"}) == parts_digest({"a": "1", "b": "2"})
    assert len(parts_digest({})) == DIGEST_LENGTH
