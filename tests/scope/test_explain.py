"""Why something is missed, and what scopes a store has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from ortcache.errors import InputError
from ortcache.keys import MAX_LENGTH
from ortcache.scope import Difference, Explanation, Scope, ScopeRecord, delete_scope, scopes
from ortcache.stores import MemoryStore
from ortcache.stores.protocol import list_entries
from ortcache.stores.verified import Verified

from ..stores.contents import contents, damage

NOW: dict[str, Any] = {
    "model": b"one",
    "ort_version": "1.32.0",
    "ep": "OpenVINOExecutionProvider",
    "ep_version": "1.8.1",
}


def scope(**parts: Any) -> Scope:
    return Scope.of(**{**NOW, **parts})


def test_the_part_that_differs_is_named_with_both_values() -> None:
    store = MemoryStore()
    scope(ort_version="1.31.0").over(store).put("key", b"x")
    explanation = scope().explain(store)
    assert explanation.differences == (Difference("ort_version", "1.31.0", "1.32.0"),)
    assert str(explanation) == str(scope().over(store).explain()) == "ort_version: stored 1.31.0, now 1.32.0"


def test_parts_that_only_one_side_names_are_differences() -> None:
    store = MemoryStore()
    scope(device="GPU", options={"level": 1}).over(store).put("key", b"x")
    assert str(scope(driver="5", options={"level": "1"}).explain(store)) == (
        'driver: stored not named, now "5"; options.level: stored 1, now "1"; device: stored GPU, now not named'
    )


@pytest.mark.parametrize("other", [None, {"model": b"two", "ep": "CPUExecutionProvider"}])
def test_where_nothing_like_it_was_stored_that_is_said(other: dict[str, Any] | None) -> None:
    store = MemoryStore()
    store.put("key", b"of no scope")
    if other:
        scope(**other).over(store).put("key", b"x")
    explanation = scope().explain(store)
    assert explanation == Explanation()
    assert str(explanation) == "nothing like it was stored"


def test_the_nearest_is_of_the_same_model_then_differs_least() -> None:
    store = MemoryStore()
    for parts in (
        {"model": b"two"},
        {"ort_version": "1", "ep_version": "1"},
        {"ort_version": "1", "ep_version": "1", "driver": "1"},
    ):
        scope(**parts).over(store).put("key", b"x")
    nearest = scope().explain(store).nearest
    assert nearest is not None and nearest.digest == scope(ort_version="1", ep_version="1").digest
    assert [difference.part for difference in scope(model=b"three").explain(store).differences] == ["model"]


def test_where_the_scope_has_entries_it_is_the_key_that_is_missed() -> None:
    store = MemoryStore()
    for key in ("one", "two"):
        scope().over(store).put(key, b"x")
    assert str(scope().explain(store)) == "2 entries of this scope are stored: what is missed is the key"


def test_a_scope_whose_entries_are_gone_explains_nothing() -> None:
    store = MemoryStore()
    scope(ort_version="1.31.0").over(store).put("key", b"x")
    scope(ort_version="1.31.0").over(store).delete("key")
    assert str(scope().explain(store)) == "nothing like it was stored"


def test_entries_whose_record_is_lost_are_counted_and_still_hit() -> None:
    store = MemoryStore()
    scope(ort_version="1.31.0").over(store).put("key", b"x")
    for key in [key for key in contents(store) if key.startswith("scopes.")]:
        store.delete(key)
    assert (
        str(scope().explain(store)) == "nothing like it was stored (1 scopes have entries and no record of their parts)"
    )
    assert scope(ort_version="1.31.0").over(store).get("key") == b"x"


def test_scopes_are_listed_with_their_parts_and_sizes() -> None:
    store = MemoryStore()
    for key, value in (("a", b"12"), ("b" * MAX_LENGTH, b"345")):
        scope().over(store).put(key, value)
    other = scope(device="GPU")
    other.over(store).put("a", b"1")
    store.put("loose", b"of no scope")
    found = {record.digest: record for record in scopes(store)}
    assert list(found) == sorted([scope().digest, other.digest])
    used = [entry.used for entry in list_entries(store) if entry.key.startswith(other.digest)]
    assert found[other.digest] == ScopeRecord(other.digest, dict(other.parts), 1, 1, used[0])
    assert (found[scope().digest].entries, found[scope().digest].parts) == (2, dict(scope().parts))
    assert found[scope().digest].size >= 5


@pytest.mark.parametrize(
    "record",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"null",
        b'{"parts": 3}',
        b'{"parts": {"a": 1}}',
        b'{"parts": {"a": "b"}}',
        b"\xff",
        b"[" * 100_000,
    ],
    ids=lambda record: str(record[:20]),
)
def test_a_record_that_is_not_the_scopes_is_no_record(record: bytes) -> None:
    store = MemoryStore()
    scope().over(store).put("key", b"x")
    store.put(f"scopes.{scope().digest}", record)
    [found] = scopes(store)
    assert (found.parts, found.entries) == (None, 1)


def test_a_record_is_readable_by_others() -> None:
    store = MemoryStore()
    scope().over(store).put("key", b"x")
    assert json.loads(contents(store)[f"scopes.{scope().digest}"] or b"") == {"format": 1, "parts": dict(scope().parts)}


def test_one_scope_can_be_deleted() -> None:
    inner = MemoryStore()
    store = Verified(inner)
    for key in ("a", "b", "c" * MAX_LENGTH):
        scope().over(store).put(key, b"x")
        scope(device="GPU").over(store).put(key, b"y")
    damage(inner, f"{scope().digest}.a")
    assert delete_scope(store, scope().digest) == 3
    assert [record.digest for record in scopes(store)] == [scope(device="GPU").digest]
    assert scope(device="GPU").over(store).get("a") == b"y"
    assert delete_scope(store, scope().digest) == 0
    assert not any(scope().digest in key for key in contents(inner))


@pytest.mark.parametrize("digest", ["", "a", "g" * 48, "A" * 48, "0" * 47, "0" * 49, None])
def test_what_is_no_digest_is_not_deleted(digest: Any) -> None:
    with pytest.raises(InputError, match="not the digest of a scope"):
        delete_scope(MemoryStore(), digest)
