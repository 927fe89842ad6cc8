"""The import rules, read off the source: which layer may import which, and what only some layers may use."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["LAYERS", "Import", "imports", "violations"]

_BINDINGS = {"core", "raw", "errors", "locks", "warn"}
_API = {"api", *_BINDINGS}
_BELOW_CACHES = {"backend", "keys", "support", "ep", "host", "stores", "scope", *_API}
_EP_CACHES = {"epcache", *_BELOW_CACHES}
_WHOLE = {"runtime", "registration", "session", "strict", "options", *_EP_CACHES}

#: Each part of the package, and the parts that it may import besides itself. Left may import right, never back.
LAYERS: dict[str, set[str]] = {
    "errors": set(),
    "support": set(),
    "warn": set(),
    "lazy": set(),
    "locks": set(),
    "keys": {"errors"},
    "stores": {"keys", "errors", "warn", "lazy"},
    "scope": {"stores", "keys", "errors", "warn"},
    "raw": {"errors"},
    "core": {"raw", "errors", "locks", "warn"},
    "api": _BINDINGS,
    "host": {"support", *_API},
    "ep": {"host", "keys", "support", *_API},
    "backend": {"host", "support", *_API},
    "epcache": _BELOW_CACHES,
    "options": _EP_CACHES,
    "strict": _EP_CACHES,
    "session": {"options", "strict", *_EP_CACHES},
    "registration": {"options", *_EP_CACHES},
    "runtime": {"registration", "session", "options", *_EP_CACHES},
    "interop": _WHOLE,
    "bridge": _WHOLE,
    "cli": {"interop", "bridge", *_WHOLE},
    "__main__": {"cli"},
}

#: Modules that only some parts may import: a store knows nothing of ctypes, and numpy is for wrappers and above.
_RESERVED = {
    "ctypes": {"raw", "core", "api", "host", "backend", "ep", "registration", "interop"},
    "numpy": {"api", "ep", "cli"},
    "ml_dtypes": {"api"},
    "onnxruntime": {"interop"},
}

#: Where a module is found by a name that is put together, or that the user gives: public names, an EP's class.
_DYNAMIC = {"ortcache.lazy", "ortcache.raw._support", "ortcache.cli.warm_provider"}


@dataclass(frozen=True)
class Import:
    """One imported module or name, dotted and absolute."""

    line: int
    target: str


def imports(module: str, source: str, *, package: bool = False) -> Iterator[Import]:
    """Every import in a module's source, also inside functions; ``package`` for an ``__init__``."""
    base = module.split(".") if package else module.split(".")[:-1]
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (Import(node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = base[: len(base) - node.level + 1] if node.level else []
            start = ".".join([*parent, *([node.module] if node.module else [])])
            yield from (Import(node.lineno, f"{start}.{alias.name}") for alias in node.names)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in (
            "import_module",
            "__import__",
        ):
            name = node.args[0] if node.args else None
            literal = isinstance(name, ast.Constant) and isinstance(name.value, str)
            yield Import(node.lineno, name.value if literal else "?")  # type: ignore[union-attr, arg-type]


def violations(module: str, source: str, *, package: bool = False) -> list[str]:
    """What a module of ``ortcache`` or ``gen`` imports and must not."""
    top, _, rest = module.partition(".")
    found = [
        f"{module}:{node.lineno}: imports for type checkers alone hide a back-import"
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
    ]
    for item in imports(module, source, package=package):
        reason = _in_gen(item.target) if top == "gen" else _in_ortcache(module, rest.partition(".")[0], item.target)
        if reason:
            found.append(f"{module}:{item.line}: {reason}")
    return found


def _in_gen(target: str) -> str | None:
    return f"gen imports {target}" if target.partition(".")[0] == "ortcache" else None


def _in_ortcache(module: str, layer: str, target: str) -> str | None:
    top, _, rest = target.partition(".")
    if target == "?":
        return None if module in _DYNAMIC else "imports a module whose name is only known when it runs"
    if top == "gen":
        return f"ortcache imports {target}"
    if not layer:  # the package itself
        return None
    if layer not in LAYERS:
        return f"{layer} is in no layer: add it to LAYERS"
    if top in _RESERVED and layer not in _RESERVED[top]:
        return f"{layer} imports {top}"
    if top != "ortcache" or rest == "__version__":
        return None
    imported = rest.partition(".")[0]
    if imported not in LAYERS:
        return f"imports {imported or 'everything'} from the package itself: import it from where it is defined"
    if imported != layer and imported not in LAYERS[layer]:
        return f"{layer} imports {imported}"
    return None
