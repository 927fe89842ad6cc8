"""Which part imports which: the direction is one way, in the product and in the generator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .support.imports import LAYERS, imports, violations
from .support.oracles import ROOT


def _modules(top: str) -> Iterator[tuple[str, str, bool]]:
    for path in sorted((ROOT / top).rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        package = parts[-1] == "__init__"
        yield ".".join(parts[:-1] if package else parts), path.read_text("utf-8"), package


@pytest.mark.parametrize("top", ["ortcache", "gen"])
def test_nothing_imports_against_the_direction_of_the_layers(top: str) -> None:
    modules = list(_modules(top))
    assert len(modules) > 10
    found = [line for module, source, package in modules for line in violations(module, source, package=package)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("top", ["ortcache", "gen"])
def test_no_modules_import_each_other_in_a_circle(top: str) -> None:
    sources = {module: (source, package) for module, source, package in _modules(top)}
    graph = {
        module: {known for item in imports(module, source, package=package) if (known := _known(item.target, sources))}
        for module, (source, package) in sources.items()
    }
    circle = _circle(graph)
    assert circle is None, " -> ".join(circle or [])


def test_every_layer_may_reach_only_layers_that_cannot_reach_it_back() -> None:
    back = [(a, b) for a, below in LAYERS.items() for b in below if a in LAYERS[b]]
    assert back == []


@pytest.mark.parametrize(
    ("module", "source", "said"),
    [
        ("ortcache.core.table", "from ..api import value", "core imports api"),
        ("ortcache.core.table", "from ..api.value import Value", "core imports api"),
        ("ortcache.core.table", "import ortcache.api.value", "core imports api"),
        ("ortcache.core.table", "def f():\n    from .. import api", "core imports api"),
        ("ortcache.core.table", "import importlib\nimportlib.import_module('ortcache.cli')", "core imports cli"),
        ("ortcache.core.table", "from importlib import import_module\nimport_module(name)", "only known when it runs"),
        ("ortcache.core.table", "from .. import load", "from where it is defined"),
        ("ortcache.core.table", "from .. import *", "from where it is defined"),
        ("ortcache.core.table", "import numpy as np", "core imports numpy"),
        ("ortcache.raw._support", "from ..core import status", "raw imports core"),
        ("ortcache.errors", "from .raw import OrtErrorCode", "errors imports raw"),
        ("ortcache.stores.memory", "import ctypes", "stores imports ctypes"),
        ("ortcache.api.env", "import onnxruntime", "api imports onnxruntime"),
        ("ortcache.api.env", "from gen import model", "ortcache imports gen"),
        ("ortcache.novel.thing", "from ..errors import OrtError", "in no layer"),
        ("ortcache.api.env", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import x", "back-import"),
        ("gen.emit", "import typing\nif typing.TYPE_CHECKING:\n    import x", "back-import"),
        ("gen.emit", "from ortcache.raw import OrtApi", "gen imports ortcache"),
        ("gen.emit", "import ortcache", "gen imports ortcache"),
    ],
)
def test_an_import_against_the_direction_is_found(module: str, source: str, said: str) -> None:
    found = violations(module, source)
    assert len(found) == 1 and said in found[0], found


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("ortcache.api.env", "import ctypes\nimport numpy\nfrom .. import raw\nfrom ..core.handle import Handle"),
        ("ortcache.cli.app", "from .. import __version__\nfrom ..errors import InputError\nfrom . import abi"),
        ("ortcache.raw._support", "import importlib\nimportlib.import_module(f'{__package__}.enums')"),
        ("gen.emit", "from .model import Header\nimport pycparser"),
    ],
)
def test_an_import_along_the_direction_is_let_through(module: str, source: str) -> None:
    assert violations(module, source) == []


def test_a_circle_is_found() -> None:
    assert _circle({"a": {"b"}, "b": {"c"}, "c": {"a"}}) == ["a", "b", "c", "a"]
    assert _circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None


def _known(target: str, sources: dict[str, object]) -> str | None:
    """The module of ours that an import reaches: the target itself, or what the name is taken from."""
    if target in sources:
        return target
    parent = target.rpartition(".")[0]
    return parent if parent in sources and "." in parent else None


def _circle(graph: dict[str, set[str]]) -> list[str] | None:
    done: set[str] = set()

    def visit(node: str, path: list[str]) -> list[str] | None:
        if node in path:
            return [*path[path.index(node) :], node]
        if node in done:
            return None
        for target in sorted(graph.get(node, ())):
            found = visit(target, [*path, node])
            if found:
                return found
        done.add(node)
        return None

    return next((found for node in sorted(graph) if (found := visit(node, []))), None)
