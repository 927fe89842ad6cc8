"""``prune``: what goes, in which order, and what stays."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ortcache.scope import Scope
from ortcache.stores.url import open_store

from ..support.cli import run
from .upkeep import DAY, VALUE, age, document, keys


def test_prune_removes_the_least_recently_used_first(root: Path) -> None:
    age(root, a=1, b=3, c=2)
    gone = document("prune", str(root), "--max-size", str(2 * len(VALUE)))
    assert [entry["key"] for entry in gone["removed"]] == ["b"]
    assert (gone["left"], gone["size_left"], gone["size_removed"]) == (2, 2 * len(VALUE), len(VALUE))
    assert keys(str(root)) == ["a", "c"]
    assert [entry["key"] for entry in document("prune", str(root), "--max-size", "1")["removed"]] == ["c", "a"]


def test_prune_removes_what_was_not_used_for_long(root: Path) -> None:
    age(root, a=29, b=31, c=400)
    result = run("prune", str(root), "--older-than", "30d")
    assert result.code == 0
    assert [line.split()[-1] for line in result.out.splitlines()[:-1]] == ["c", "b"]
    assert result.out.splitlines()[-1] == "2 entries removed, 2.0 KiB; 1 stay, 1.0 KiB"
    assert keys(str(root)) == ["a"]
    assert document("prune", str(root), "--older-than", "4w", "--max-size", "1G")["removed"][0]["key"] == "a"


def test_a_dry_run_of_prune_says_what_would_go(root: Path) -> None:
    age(root, a=1, b=2, c=3)
    dry = document("prune", str(root), "--older-than", "36h", "--dry-run")
    assert [entry["key"] for entry in dry["removed"]] == ["c", "b"] and dry["dry_run"] is True
    assert keys(str(root)) == ["a", "b", "c"]
    assert "would be removed" in run("prune", str(root), "--max-size", "1", "-n").out


def test_prune_keeps_what_explains_the_entries_that_stay(tmp_path: Path) -> None:
    root, now = tmp_path / "store", time.time()
    store = open_store(root)
    scopes = [Scope.of(model_digest=f"sha256:{number:064x}", ep="x") for number in range(2)]
    for scope in scopes:
        scope.over(store).put("plan", VALUE)
    for path in root.iterdir():
        used = now - (DAY if path.name == f"{scopes[0].digest}.plan" else 40 * DAY)
        os.utime(path, (used, used))
    removed = document("prune", str(root), "--older-than", "30d")["removed"]
    assert {entry["key"] for entry in removed} == {f"{scopes[1].digest}.plan", f"scopes.{scopes[1].digest}"}
    (left,) = document("ls", str(root), "--scopes")["scopes"]
    assert left["parts"] == dict(scopes[0].parts)


@pytest.mark.parametrize(
    "args", [(), ("--older-than", "30"), ("--older-than", "x"), ("--max-size", "0"), ("--max-size", "3X")]
)
def test_prune_wants_a_limit_that_it_understands(root: Path, args: tuple[str, ...]) -> None:
    assert run("prune", str(root), *args).code == 2
    assert keys(str(root)) == ["a", "b", "c"]
